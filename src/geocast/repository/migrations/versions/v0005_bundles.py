"""What goes to a topic is kept by the event, no longer by the match."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

__all__ = ["down_revision", "revision", "upgrade"]

revision = "0005"
down_revision = "0004"

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
# A bundle counts as written when the last of its rows was: if only some of them were, it is
# written once more, whole. All count as seen, since they may have been.
MOVE = """
    INSERT INTO bundle (cursor, account, endpoint, event, kind, matches, notified, seen)
    SELECT max(cursor), account, endpoint, event, kind, count(*), min(notified), min(notified)
    FROM mailbox WHERE endpoint IN (SELECT number FROM endpoint WHERE url LIKE 'kafka:%')
    GROUP BY account, endpoint, event, kind"""
REMOVE = """
    DELETE FROM mailbox
    WHERE endpoint IN (SELECT number FROM endpoint WHERE url LIKE 'kafka:%')"""


def upgrade() -> None:
    """Make the table, and move what waits for topics into it."""
    op.create_table(
        "bundle",
        sa.Column("cursor", NUMBER, primary_key=True, autoincrement=False),
        sa.Column("account", NUMBER, nullable=False),
        sa.Column("endpoint", NUMBER, nullable=False),
        sa.Column("event", NUMBER, nullable=False),
        sa.Column("kind", sa.Integer(), nullable=False),
        sa.Column("matches", NUMBER, nullable=False),
        sa.Column("notified", NUMBER, nullable=False),
        sa.Column("seen", NUMBER, nullable=True),
    )
    op.create_index("bundle_endpoint", "bundle", ["endpoint", "cursor"])
    op.create_index("bundle_account", "bundle", ["account", "cursor"])
    op.execute(MOVE)
    op.execute(REMOVE)
