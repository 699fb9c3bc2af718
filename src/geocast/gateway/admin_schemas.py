"""What requests and answers look like: accounts, tokens, the numbers of the service."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import AwareDatetime, BaseModel, Field

from geocast.gateway.forms import AccountName, of_form
from geocast.gateway.schemas import StrictModel, Time

__all__ = [
    "AccountDocument",
    "Accounts",
    "IssuedToken",
    "Me",
    "NewAccount",
    "NewToken",
    "RightName",
    "Rights",
    "Status",
    "Tokens",
]

RightName = Literal["publish", "subscribe", "admin"]
_NO_NUL: Final = of_form(r"^[^\x00]*$", "a label cannot have a NUL character")


class Rights(StrictModel):
    """What an account may do."""

    rights: list[RightName]


class NewAccount(Rights):
    """An account to be made."""

    name: AccountName


class AccountDocument(BaseModel):
    """An account."""

    name: str
    rights: list[RightName]
    created: Time


class Accounts(BaseModel):
    """A page of accounts; `next` is the cursor of the next page."""

    accounts: list[AccountDocument]
    next: str | None


class Me(AccountDocument):
    """Your account, how many subscriptions it has, and how many notifications wait for it."""

    subscriptions: int
    waiting: int


class NewToken(StrictModel):
    """A token to be made; without `expires` it is good until it is revoked."""

    label: Annotated[str, Field(max_length=100), _NO_NUL] = ""
    expires: Annotated[AwareDatetime | None, Field(strict=False)] = None


class NumberedToken(BaseModel):
    """A token, which itself is not told again."""

    number: int
    label: str
    created: Time
    expires: Time | None


class IssuedToken(BaseModel):
    """A new token; this is the only time that it is told."""

    number: int
    token: str
    label: str
    expires: Time | None


class Tokens(BaseModel):
    """The tokens of an account."""

    tokens: list[NumberedToken]


class Snapshot(BaseModel):
    """The newest version of all subscriptions, and the last change that it has."""

    version: int
    through: int


class PartitionDocument(BaseModel):
    """The offsets that a partition of the log keeps: from `start` up to before `end`."""

    start: int
    end: int


class LogDocument(BaseModel):
    """The log of publications."""

    name: str
    partitions: list[PartitionDocument]


class Batch(BaseModel):
    """A batch of the pipeline: the offsets that it had of each partition, and what it counted."""

    batch: int
    snapshot: int
    pinned: Time
    finished: Time | None
    seconds: float | None
    ranges: dict[str, tuple[int, int]]
    counts: dict[str, int]


class MailboxNumbers(BaseModel):
    """Notifications that wait to be acknowledged, and the newest cursor."""

    waiting: int
    latest: int


class WebhookNumbers(BaseModel):
    """How many webhooks are in each state."""

    active: int
    parked: int


class Delays(BaseModel):
    """From publication to mailbox, in seconds, of the last minute; null without any."""

    count: int
    p50: float | None
    p99: float | None


class Status(BaseModel):
    """The numbers of everything; `batches` are the last ones, newest first.

    `publications` are all that ever came in; `processed`, `matches`, `notifications` and
    `rejects`, by where that was noticed, are counted since the service was started.
    """

    deployment: str
    ready: bool
    subscriptions: int
    snapshot: Snapshot
    log: LogDocument
    publications: int
    processed: int
    matches: int
    notifications: int
    rejects: dict[str, int]
    delay: Delays
    batches: list[Batch]
    batch_seconds: Annotated[float | None, Field(description="Of the last finished batch")]
    mailbox: MailboxNumbers
    dead_letters: int
    webhooks: WebhookNumbers
    streams: int
    event_streams: int
