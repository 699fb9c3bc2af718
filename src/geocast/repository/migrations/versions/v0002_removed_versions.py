"""Versions that were removed can be found by when that was."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

__all__ = ["down_revision", "revision", "upgrade"]

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Make the index."""
    removed = sa.text("removed_at IS NOT NULL")
    op.create_index(
        "version_removed", "version", ["removed_at"], sqlite_where=removed, postgresql_where=removed
    )
