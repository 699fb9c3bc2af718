"""Subscriptions can pause, and accounts can sign in by links."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

__all__ = ["down_revision", "revision", "upgrade"]

revision = "0003"
down_revision = "0002"

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make both tables."""
    op.create_table(
        "pause",
        sa.Column("subscription", NUMBER, primary_key=True, autoincrement=False),
        sa.Column("at", NUMBER, nullable=False),
    )
    op.create_table(
        "link",
        sa.Column("hash", sa.LargeBinary(), primary_key=True),
        sa.Column("account", NUMBER, sa.ForeignKey("account.number"), nullable=False),
        sa.Column("expires", NUMBER, nullable=False),
        sa.Column("until", NUMBER, nullable=False),
    )
    op.create_index("link_account", "link", ["account"])
    op.create_index("link_expires", "link", ["expires"])
