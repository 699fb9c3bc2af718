"""The tables of the repository.

Times are whole microseconds in UTC. Numbers that readers follow upwards (`cursor`, `seq`,
`vnumber`) come from the table `counter`: its row stays locked until the transaction that took
them ends, so that they become visible in their own order, and none is ever used twice.
"""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
)

from geocast.repository.text import EscapedText

__all__ = [
    "account",
    "batch",
    "body",
    "bundle",
    "change",
    "counter",
    "dead_letter",
    "delivered",
    "endpoint",
    "event",
    "fact",
    "link",
    "mailbox",
    "member",
    "metadata",
    "pause",
    "position",
    "share",
    "snapshot",
    "subscription",
    "token",
    "version",
    "wanted",
    "withdrawal",
]

metadata: Final = MetaData(naming_convention={"ix": "%(table_name)s_%(column_0_name)s"})

# SQLite keeps a table in the order of its key only where the key's type is INTEGER.
_Number: Final = BigInteger().with_variant(Integer, "sqlite")
_Words: Final = Text().with_variant(EscapedText(), "postgresql")


def _key(name: str) -> Column[Any]:
    """A number that the caller gives, from a counter or from another table."""
    return Column(name, _Number, primary_key=True, autoincrement=False)


def _serial() -> Column[Any]:
    """A number that the database gives."""
    return Column("number", _Number, primary_key=True, autoincrement=True)


def _number(name: str, *, null: bool = False) -> Column[Any]:
    return Column(name, _Number, nullable=null)


def _text(name: str, *, null: bool = False) -> Column[Any]:
    return Column(name, _Words, nullable=null)


def _name(name: str) -> Column[Any]:
    """A text that is the key, or a part of it."""
    return Column(name, _Words, primary_key=True)


fact: Final = Table("fact", metadata, _name("name"), _text("value"))

counter: Final = Table("counter", metadata, _name("name"), _number("value"))

account: Final = Table(
    "account",
    metadata,
    _serial(),
    _text("name"),
    _text("rights"),
    _number("created"),
    _number("removed", null=True),
    Index("account_name", "name", unique=True),
    sqlite_autoincrement=True,
)

token: Final = Table(
    "token",
    metadata,
    _serial(),
    Column("account", _Number, ForeignKey("account.number"), nullable=False, index=True),
    Column("hash", LargeBinary, nullable=False),
    _text("label"),
    _number("created"),
    _number("expires", null=True),
    Index("token_hash", "hash", unique=True),
    sqlite_autoincrement=True,
)

link: Final = Table(
    "link",
    metadata,
    Column("hash", LargeBinary, primary_key=True),
    Column("account", _Number, ForeignKey("account.number"), nullable=False, index=True),
    Column("expires", _Number, nullable=False, index=True),
    _number("until"),
)

endpoint: Final = Table(
    "endpoint",
    metadata,
    _serial(),
    Column("account", _Number, ForeignKey("account.number"), nullable=False),
    _text("url"),
    _text("secret"),
    _text("state"),
    Column("attempts", Integer, nullable=False),
    _number("next_try", null=True),
    _text("last_error", null=True),
    Column("last_status", Integer, nullable=True),
    _number("changed"),
    Index("endpoint_url", "account", "url", unique=True),
    sqlite_autoincrement=True,
)

subscription: Final = Table(
    "subscription",
    metadata,
    _key("number"),
    Column("account", _Number, ForeignKey("account.number"), nullable=False),
    _text("id"),
    _number("vnumber"),
    _number("created"),
    _number("changed"),
    _number("cancelled", null=True),
    Index("subscription_id", "account", "id", unique=True),
)
_stands: Final = subscription.c.cancelled.is_(None)
Index(
    "subscription_standing",
    subscription.c.account,
    subscription.c.number,
    sqlite_where=_stands,
    postgresql_where=_stands,
)

# Those of the standing subscriptions that are paused; the newest version of each is removed.
pause: Final = Table("pause", metadata, _key("subscription"), _number("at"))

# What is asked for may be large and never changes; what is looked at all the time is kept apart.
version: Final = Table(
    "version",
    metadata,
    _key("vnumber"),
    Column("subscription", _Number, ForeignKey("subscription.number"), nullable=False, index=True),
    _number("account"),
    Column("version", Integer, nullable=False),
    _number("endpoint", null=True),
    _number("created"),
    _number("added"),
    _number("removed", null=True),
    _number("activated_snapshot", null=True),
    _number("activated_at", null=True),
    _number("removed_snapshot", null=True),
    _number("removed_at", null=True),
)

_was_removed: Final = version.c.removed_at.isnot(None)
Index(
    "version_removed",
    version.c.removed_at,
    sqlite_where=_was_removed,
    postgresql_where=_was_removed,
)

wanted: Final = Table(
    "wanted",
    metadata,
    _key("vnumber"),
    Column("geometry", LargeBinary, nullable=True),
    _text("predicate", null=True),
    _text("filter", null=True),
    _text("properties"),
    Column("west", Double, nullable=True),
    Column("south", Double, nullable=True),
    Column("east", Double, nullable=True),
    Column("north", Double, nullable=True),
)

change: Final = Table(
    "change", metadata, _key("seq"), _number("added", null=True), _number("removed", null=True)
)

snapshot: Final = Table("snapshot", metadata, _key("version"), _number("through"), _number("at"))

batch: Final = Table(
    "batch",
    metadata,
    _name("query"),
    _key("batch"),
    _number("snapshot"),
    _number("pinned_at"),
    _number("finished_at", null=True),
    _text("ranges"),
    _text("counts"),
)

position: Final = Table(
    "position",
    metadata,
    _name("consumer"),
    _key("partition"),
    _number("offset"),
)

# Each match of an event has a cursor: the first is the event's number, the others follow without a
# gap, in the order of its versions.
event: Final = Table(
    "event",
    metadata,
    _key("number"),
    _number("last"),
    _number("partition"),
    _number("offset"),
    _text("key"),
    _number("published"),
    _number("notified"),
    _number("withdrawn", null=True),
    Column("versions", LargeBinary, nullable=False),
    Index("event_place", "partition", "offset", unique=True),
    Index("event_key", "key"),
)

body: Final = Table("body", metadata, _key("event"), Column("feature", LargeBinary, nullable=False))

mailbox: Final = Table(
    "mailbox",
    metadata,
    _key("cursor"),
    _number("account"),
    _number("subscription"),
    _number("vnumber"),
    _number("event"),
    _number("endpoint", null=True),
    Column("kind", Integer, nullable=False),
    _number("notified"),
    Index("mailbox_account", "account", "cursor", "subscription"),
)
_to_webhook: Final = mailbox.c.endpoint.isnot(None)
Index(
    "mailbox_endpoint",
    mailbox.c.endpoint,
    mailbox.c.cursor,
    sqlite_where=_to_webhook,
    postgresql_where=_to_webhook,
)

# What an event is to a topic: one row for all of its matches that go there, with the cursor of the
# first of them, or that of the last in rows that come from version 0004.
bundle: Final = Table(
    "bundle",
    metadata,
    _key("cursor"),
    _number("account"),
    _number("endpoint"),
    _number("event"),
    Column("kind", Integer, nullable=False),
    _number("matches"),
    _number("notified"),
    _number("seen", null=True),
    Index("bundle_endpoint", "endpoint", "cursor"),
    Index("bundle_account", "account", "cursor"),
)

delivered: Final = Table("delivered", metadata, _key("subscription"), _number("cursor"))

withdrawal: Final = Table(
    "withdrawal",
    metadata,
    _name("key"),
    _number("until"),
    _number("at"),
    Index("withdrawal_at", "at"),
)

dead_letter: Final = Table(
    "dead_letter",
    metadata,
    _serial(),
    _text("stage"),
    _text("publisher", null=True),
    _text("id", null=True),
    _text("reason"),
    Column("value", LargeBinary, nullable=False),
    _number("partition", null=True),
    _number("offset", null=True),
    _number("at"),
    Index("dead_letter_place", "partition", "offset", unique=True),
    Index("dead_letter_publisher", "publisher", "number"),
    sqlite_autoincrement=True,
)

# Those that work together, and until when they are taken to be alive.
member: Final = Table("member", metadata, _name("name"), _text("role"), _number("until"))

share: Final = Table("share", metadata, _name("work"), _key("number"), _text("member", null=True))
