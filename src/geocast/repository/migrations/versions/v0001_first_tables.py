"""The first tables."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

__all__ = ["down_revision", "revision", "upgrade"]

revision = "0001"
down_revision = None

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
WORDS = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Make all tables; the counters start at 0."""
    _accounts()
    _subscriptions()
    _pipeline()
    _mailbox()
    counter = _facts()
    names = ("change", "cursor", "subscription", "version")
    op.bulk_insert(counter, [{"name": name, "value": 0} for name in names])


def _key(name: str) -> sa.Column[Any]:
    return sa.Column(name, NUMBER, primary_key=True, autoincrement=False)


def _serial() -> sa.Column[Any]:
    return sa.Column("number", NUMBER, primary_key=True, autoincrement=True)


def _number(name: str, *, null: bool = False) -> sa.Column[Any]:
    return sa.Column(name, NUMBER, nullable=null)


def _text(name: str, *, null: bool = False) -> sa.Column[Any]:
    return sa.Column(name, WORDS, nullable=null)


def _partial(index: str, table: str, columns: list[str], where: str) -> None:
    condition = sa.text(where)
    op.create_index(index, table, columns, sqlite_where=condition, postgresql_where=condition)


def _accounts() -> None:
    op.create_table(
        "account",
        _serial(),
        _text("name"),
        _text("rights"),
        _number("created"),
        _number("removed", null=True),
        sqlite_autoincrement=True,
    )
    op.create_index("account_name", "account", ["name"], unique=True)
    op.create_table(
        "token",
        _serial(),
        sa.Column("account", NUMBER, sa.ForeignKey("account.number"), nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        _text("label"),
        _number("created"),
        _number("expires", null=True),
        sqlite_autoincrement=True,
    )
    op.create_index("token_account", "token", ["account"])
    op.create_index("token_hash", "token", ["hash"], unique=True)
    op.create_table(
        "endpoint",
        _serial(),
        sa.Column("account", NUMBER, sa.ForeignKey("account.number"), nullable=False),
        _text("url"),
        _text("secret"),
        _text("state"),
        sa.Column("attempts", sa.Integer(), nullable=False),
        _number("next_try", null=True),
        _text("last_error", null=True),
        sa.Column("last_status", sa.Integer(), nullable=True),
        _number("changed"),
        sqlite_autoincrement=True,
    )
    op.create_index("endpoint_url", "endpoint", ["account", "url"], unique=True)


def _subscriptions() -> None:
    op.create_table(
        "subscription",
        _key("number"),
        sa.Column("account", NUMBER, sa.ForeignKey("account.number"), nullable=False),
        _text("id"),
        _number("vnumber"),
        _number("created"),
        _number("changed"),
        _number("cancelled", null=True),
    )
    op.create_index("subscription_id", "subscription", ["account", "id"], unique=True)
    _partial("subscription_standing", "subscription", ["account", "number"], "cancelled IS NULL")
    op.create_table(
        "version",
        _key("vnumber"),
        sa.Column("subscription", NUMBER, sa.ForeignKey("subscription.number"), nullable=False),
        _number("account"),
        sa.Column("version", sa.Integer(), nullable=False),
        _number("endpoint", null=True),
        _number("created"),
        _number("added"),
        _number("removed", null=True),
        _number("activated_snapshot", null=True),
        _number("activated_at", null=True),
        _number("removed_snapshot", null=True),
        _number("removed_at", null=True),
    )
    op.create_index("version_subscription", "version", ["subscription"])
    op.create_table(
        "wanted",
        _key("vnumber"),
        sa.Column("geometry", sa.LargeBinary(), nullable=True),
        _text("predicate", null=True),
        _text("filter", null=True),
        _text("properties"),
        sa.Column("west", sa.Double(), nullable=True),
        sa.Column("south", sa.Double(), nullable=True),
        sa.Column("east", sa.Double(), nullable=True),
        sa.Column("north", sa.Double(), nullable=True),
    )
    op.create_table(
        "change",
        _key("seq"),
        _number("added", null=True),
        _number("removed", null=True),
    )


def _pipeline() -> None:
    op.create_table(
        "snapshot",
        _key("version"),
        _number("through"),
        _number("at"),
    )
    op.create_table(
        "batch",
        sa.Column("query", WORDS, primary_key=True),
        _key("batch"),
        _number("snapshot"),
        _number("pinned_at"),
        _number("finished_at", null=True),
        _text("ranges"),
        _text("counts"),
    )
    op.create_table(
        "position",
        sa.Column("consumer", WORDS, primary_key=True),
        _key("partition"),
        _number("offset"),
    )
    op.create_table(
        "dead_letter",
        _serial(),
        _text("stage"),
        _text("publisher", null=True),
        _text("id", null=True),
        _text("reason"),
        sa.Column("value", sa.LargeBinary(), nullable=False),
        _number("partition", null=True),
        _number("offset", null=True),
        _number("at"),
        sqlite_autoincrement=True,
    )
    op.create_index("dead_letter_place", "dead_letter", ["partition", "offset"], unique=True)
    op.create_index("dead_letter_publisher", "dead_letter", ["publisher", "number"])


def _mailbox() -> None:
    op.create_table(
        "event",
        _key("number"),
        _number("last"),
        _number("partition"),
        _number("offset"),
        _text("key"),
        _number("published"),
        _number("notified"),
        _number("withdrawn", null=True),
        sa.Column("versions", sa.LargeBinary(), nullable=False),
    )
    op.create_index("event_key", "event", ["key"])
    op.create_index("event_place", "event", ["partition", "offset"], unique=True)
    op.create_table(
        "body",
        _key("event"),
        sa.Column("feature", sa.LargeBinary(), nullable=False),
    )
    op.create_table(
        "mailbox",
        _key("cursor"),
        _number("account"),
        _number("subscription"),
        _number("vnumber"),
        _number("event"),
        _number("endpoint", null=True),
        sa.Column("kind", sa.Integer(), nullable=False),
        _number("notified"),
    )
    op.create_index("mailbox_account", "mailbox", ["account", "cursor", "subscription"])
    _partial("mailbox_endpoint", "mailbox", ["endpoint", "cursor"], "endpoint IS NOT NULL")
    op.create_table(
        "delivered",
        _key("subscription"),
        _number("cursor"),
    )
    op.create_table(
        "withdrawal",
        sa.Column("key", WORDS, primary_key=True),
        _number("until"),
        _number("at"),
    )
    op.create_index("withdrawal_at", "withdrawal", ["at"])


def _facts() -> sa.Table:
    op.create_table(
        "fact",
        sa.Column("name", WORDS, primary_key=True),
        _text("value"),
    )
    return op.create_table(
        "counter",
        sa.Column("name", WORDS, primary_key=True),
        _number("value"),
    )
