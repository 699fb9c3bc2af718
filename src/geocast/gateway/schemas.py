"""What requests and answers look like, for checking them and for the OpenAPI document."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from geocast.model import MAX_ID

__all__ = [
    "MAX_NUMBER",
    "AcknowledgeCursors",
    "AcknowledgeThrough",
    "Acknowledged",
    "Alive",
    "CloudEvent",
    "DeadLetters",
    "Identifier",
    "Notifications",
    "Number",
    "ParkedWebhook",
    "ParkedWebhooks",
    "ProblemDocument",
    "Published",
    "Ready",
    "Receipt",
    "StrictModel",
    "Time",
    "Webhook",
    "Webhooks",
    "Withdrawal",
]

MAX_NUMBER = 2**63 - 1
Number = Annotated[int, Field(ge=0, le=MAX_NUMBER)]
Identifier = Annotated[str, Field(min_length=1, max_length=MAX_ID)]
Time = Annotated[str, Field(json_schema_extra={"format": "date-time"})]


class StrictModel(BaseModel):
    """What clients send: nothing is converted, nothing is overlooked."""

    model_config = ConfigDict(strict=True, extra="forbid")


class Fault(BaseModel):
    """One thing that is wrong: a feature by its index and id, or the place in the request.

    `position` is the character of its filter's text at which the trouble begins.
    """

    reason: str
    position: int | None = None
    index: int | None = None
    id: str | None = None
    where: str | None = None


class ProblemDocument(BaseModel):
    """A problem by RFC 9457; `position` is the character of a filter's text that it is at."""

    type: str
    title: str
    status: int
    detail: str
    instance: str | None = None
    position: int | None = None
    errors: list[Fault] | None = None


class Receipt(BaseModel):
    """Where a publication stands in the log; a duplicate was there already."""

    id: str
    partition: int
    offset: int
    time: Time
    duplicate: bool


class Rejection(BaseModel):
    """A feature that was not accepted, by its place in the request."""

    index: int
    id: str | None
    reason: str


class Published(BaseModel):
    """What became of the features of a request."""

    accepted: list[Receipt]
    rejected: list[Rejection]


class Withdrawal(BaseModel):
    """What a withdrawal did: notifications removed unseen, and notices to those who saw them."""

    known: bool
    removed: int
    notices: int


class CloudEvent(BaseModel):
    """A notification; `geocastcursor` is its place in the mailbox."""

    specversion: Literal["1.0"]
    id: str
    source: str
    type: Literal["geocast.match.v1", "geocast.withdrawal.v1"]
    subject: str
    time: Time
    datacontenttype: str
    geocastcursor: int
    data: dict[str, Any]


class Notifications(BaseModel):
    """A page of the mailbox; `cursor` is where the next page begins (`after`)."""

    notifications: list[CloudEvent]
    cursor: int


class AcknowledgeThrough(StrictModel):
    """Everything up to and including a cursor, of one subscription or of all."""

    through: Number
    subscription: Identifier | None = None


class AcknowledgeCursors(StrictModel):
    """Single notifications."""

    cursors: Annotated[list[Number], Field(min_length=1, max_length=50_000)]
    subscription: Identifier | None = None


class Acknowledged(BaseModel):
    """How many notifications left the mailbox."""

    acknowledged: int


class DeadLetterDocument(BaseModel):
    """A record that was refused: where that was noticed, why, and the start of its text."""

    number: int
    at: Time
    where: str
    publisher: str | None
    id: str | None
    reason: str
    value: str


class DeadLetters(BaseModel):
    """A page of refused records; `next` is the cursor of the next page."""

    dead_letters: list[DeadLetterDocument]
    next: str | None


class Webhook(BaseModel):
    """A webhook and how it fares; a parked one is not tried until it is resumed."""

    number: int
    url: str
    state: Literal["active", "parked"]
    attempts: int
    next_try: Time | None
    last_error: str | None
    last_status: int | None
    changed: Time


class Webhooks(BaseModel):
    """All webhooks of an account."""

    webhooks: list[Webhook]


class ParkedWebhook(BaseModel):
    """A webhook of some account that is parked: where it leads, and why."""

    account: str
    number: int
    host: str
    last_error: str | None
    last_status: int | None
    changed: Time


class ParkedWebhooks(BaseModel):
    """Webhooks of all accounts that are parked."""

    webhooks: list[ParkedWebhook]


class Alive(BaseModel):
    """The process answers."""

    status: Literal["alive"]


class Ready(BaseModel):
    """The service can be used."""

    status: Literal["ready"]
