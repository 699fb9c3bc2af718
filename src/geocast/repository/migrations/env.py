"""Runs migrations on the connection, and in the transaction, of whoever asks for them."""

from __future__ import annotations

from alembic import context

from geocast.repository.tables import metadata

__all__: list[str] = []

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()
