"""Processes that work together: who takes part, and who has which share of the work."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

__all__ = ["down_revision", "revision", "upgrade"]

revision = "0004"
down_revision = "0003"

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
WORDS = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Make both tables."""
    op.create_table(
        "member",
        sa.Column("name", WORDS, primary_key=True),
        sa.Column("role", WORDS, nullable=False),
        sa.Column("until", NUMBER, nullable=False),
    )
    op.create_table(
        "share",
        sa.Column("work", WORDS, primary_key=True),
        sa.Column("number", NUMBER, primary_key=True, autoincrement=False),
        sa.Column("member", WORDS, nullable=True),
    )
