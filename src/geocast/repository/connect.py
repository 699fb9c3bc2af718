"""From the URL of a repository to its database."""

from __future__ import annotations

from geocast.repository.address import parsed
from geocast.repository.database import Database

__all__ = ["open_database"]


def open_database(url: str, *, patience: float, connections: int | None) -> Database:
    """Return the database of a URL, by its kind; nothing is asked of it yet."""
    address = parsed(url)
    if address.get_backend_name() == "sqlite":
        from geocast.repository.sqlite import SqliteDatabase

        return SqliteDatabase(address)
    # Its driver is loaded only where it is used.
    from geocast.repository.postgresql import CONNECTIONS, PostgresDatabase

    return PostgresDatabase(address, patience=patience, connections=connections or CONNECTIONS)
