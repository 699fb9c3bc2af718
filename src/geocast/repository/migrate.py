"""Bringing the tables of a database to what this version of the program needs."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection

from geocast.errors import StateError
from geocast.repository.database import Database
from geocast.repository.locks import Guards, guard

__all__ = ["migrate"]

_SCRIPTS: Final = Path(__file__).with_name("migrations")


def migrate(database: Database) -> None:
    """Create or change the tables as needed; processes that start together take turns.

    Raises StateError if the tables are of a later version of the program.
    """
    config = Config()
    config.set_main_option("script_location", str(_SCRIPTS).replace("%", "%%"))
    head = ScriptDirectory.from_config(config).get_current_head()
    with database.read() as connection:
        if _revision(connection) == head:
            return
    with database.write() as connection:
        guard(connection, Guards.TABLES)
        config.attributes["connection"] = connection
        try:
            command.upgrade(config, "head")
        except CommandError as error:
            raise StateError(f"the repository is of another version of Geocast: {error}") from error


def _revision(connection: Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()
