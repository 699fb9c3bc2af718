"""What answers look like: events, attributes, previews, links, the web client."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from geocast.gateway.admin_schemas import RightName
from geocast.gateway.schemas import StrictModel, Time

__all__ = [
    "Attribute",
    "Counts",
    "IssuedLink",
    "LinkCode",
    "NewLink",
    "Preview",
    "SignedIn",
    "WebClient",
]


class Attribute(BaseModel):
    """A property that events have: the kinds and examples of its values, how many events have it.

    `values` are the most frequent texts; `min` and `max` are of its numbers.
    """

    name: str
    types: list[Literal["number", "text", "boolean", "array", "object"]]
    values: list[str]
    min: float | None
    max: float | None
    share: Annotated[float, Field(ge=0, le=1)]


class Preview(BaseModel):
    """How many of the last events would have matched, and which: up to 5,000, newest first."""

    considered: int
    matched: int
    ids: list[str]
    publishers: Annotated[list[str], Field(description="Whose they are, in the same order")]
    since: Annotated[Time | None, Field(description="When the oldest of them was published")]


class Counts(BaseModel):
    """How many notifications wait, by the id of the subscription; none is not listed."""

    subscriptions: dict[str, int]


class NewLink(StrictModel):
    """A link to be made, and for how long it is good."""

    seconds: Annotated[int, Field(ge=1, le=86_400)] = 600


class IssuedLink(BaseModel):
    """A link to sign in by: open the page of the web client at `#link=` and this code."""

    code: str
    expires: Time


class LinkCode(StrictModel):
    """The code of a link."""

    code: Annotated[str, Field(min_length=1, max_length=100)]


class SignedIn(BaseModel):
    """A new token, and whose it is."""

    token: str
    account: str
    rights: list[RightName]


class Tiles(BaseModel):
    """Where the map comes from: a URL with {z}, {x} and {y}, and whom to thank for it."""

    url: str
    attribution: str


class WebClient(BaseModel):
    """What the web client has to know before anybody signs in."""

    version: str
    tiles: Tiles | None
