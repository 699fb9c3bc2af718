"""The messages of a session: what a client may say, as models."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import Field, TypeAdapter, ValidationError

from geocast.files.geometry import json_kind
from geocast.gateway.problems import Problem
from geocast.gateway.schemas import Identifier, Number, StrictModel

__all__ = [
    "Ack",
    "Connect",
    "Message",
    "Ping",
    "Publish",
    "Subscribe",
    "Unpublish",
    "Unsubscribe",
    "read_message",
    "ref_of",
]

Ref = Annotated[str, Field(max_length=256)] | int | float | None


class _Message(StrictModel):
    ref: Annotated[Ref, Field(description="Repeated in the answer")] = None


class Connect(_Message):
    """Send me notifications: what is not acknowledged, or what follows `after`."""

    type: Literal["connect"]
    after: Number | None = None
    subscription: Identifier | None = None


class Subscribe(_Message):
    """Make the subscription that a Feature asks for."""

    type: Literal["subscribe"]
    feature: dict[str, Any]


class Unsubscribe(_Message):
    """Cancel a subscription."""

    type: Literal["unsubscribe"]
    id: Identifier


class Publish(_Message):
    """Publish a Feature."""

    type: Literal["publish"]
    feature: dict[str, Any]


class Unpublish(_Message):
    """Withdraw a publication."""

    type: Literal["unpublish"]
    id: Identifier


class Ack(_Message):
    """Acknowledge notifications up to a cursor, of one subscription or of all."""

    type: Literal["ack"]
    through: Number
    subscription: Identifier | None = None


class Ping(_Message):
    """Are you there?"""

    type: Literal["ping"]


Message = Connect | Subscribe | Unsubscribe | Publish | Unpublish | Ack | Ping

_NAMES: Final = ("connect", "subscribe", "unsubscribe", "publish", "unpublish", "ack", "ping")
_reader: TypeAdapter[Message] = TypeAdapter(Annotated[Message, Field(discriminator="type")])


def read_message(value: Any) -> Message:
    """Return the message that a JSON value is; a Problem (422) if it is none."""
    if not isinstance(value, dict):
        raise Problem(422, f"a message is an object with a `type`, not {json_kind(value)}")
    name = value.get("type")
    if name not in _NAMES:
        choices = ", ".join(_NAMES)
        raise Problem(422, f"`type` is {json_kind(name)}; there are: {choices}")
    try:
        return _reader.validate_python(value)
    except ValidationError as error:
        faults = [
            {"where": ".".join(map(str, fault["loc"])), "reason": fault["msg"]}
            for fault in error.errors(include_url=False, include_input=False)
        ]
        detail = f"{faults[0]['where']}: {faults[0]['reason']}"
        raise Problem(422, detail, errors=faults) from None


def ref_of(value: Any) -> Any:
    """Return the `ref` of a message, whatever else is wrong with it; None if it has no good one."""
    ref = value.get("ref") if isinstance(value, dict) else None
    return ref if isinstance(ref, str | int | float) and len(str(ref)) <= 256 else None
