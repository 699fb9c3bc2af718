"""The repository: everything that a service must remember, in one SQL database."""

from __future__ import annotations

import sqlite3
from uuid import uuid4

from sqlalchemy import select
from sqlalchemy.exc import DatabaseError

from geocast.errors import StateError
from geocast.repository.accounts import Accounts
from geocast.repository.connect import open_database
from geocast.repository.database import Database
from geocast.repository.dead_letters import DeadLetters
from geocast.repository.endpoints import Endpoints
from geocast.repository.ledger import Ledger
from geocast.repository.links import Links
from geocast.repository.mailbox import Mailbox
from geocast.repository.members import Members
from geocast.repository.migrate import migrate
from geocast.repository.statements import insert_absent
from geocast.repository.subscriptions import Subscriptions
from geocast.repository.tables import fact

__all__ = ["Repository"]


class Repository:
    """Open it by `Repository.open`. Threads may share it; each process opens its own."""

    def __init__(self, database: Database, deployment: str) -> None:
        self._database = database
        self.deployment = deployment
        self.accounts = Accounts(database)
        self.subscriptions = Subscriptions(database)
        self.links = Links(database)
        self.ledger = Ledger(database)
        self.mailbox = Mailbox(database, deployment)
        self.dead_letters = DeadLetters(database)
        self.endpoints = Endpoints(database)
        self.members = Members(database)

    @classmethod
    def open(cls, url: str, *, patience: float = 0.0, connections: int | None = None) -> Repository:
        """Open the repository at a URL; made or brought up to date first.

        The URL is sqlite:///FILE or postgresql://USER@HOST/DATABASE. Several processes may do so
        at once. Raises InputError if it is neither, StateError if what is there cannot be
        reached, is no repository, or one of a later version of the program.

        Where the database is a server: for `patience` seconds a transaction waits for it that
        cannot be made, and at most so many `connections` are kept.
        """
        database = open_database(url, patience=patience, connections=connections)
        try:
            migrate(database)
            return cls(database, _deployment(database))
        except (DatabaseError, sqlite3.DatabaseError) as error:
            database.close()
            cause = error.orig if isinstance(error, DatabaseError) else error
            reason = " ".join(str(cause).split())
            raise StateError(
                f"the repository {database.name} cannot be opened: {reason}"
            ) from error
        except BaseException:
            database.close()
            raise

    def close(self) -> None:
        """Close all connections; nothing of it can be used afterwards."""
        self._database.close()


def _deployment(database: Database) -> str:
    query = select(fact.c.value).where(fact.c.name == "deployment")
    with database.read() as connection:
        known = connection.execute(query).scalar_one_or_none()
    if known is not None:
        return str(known)
    with database.write() as connection:
        insert_absent(connection, fact, [{"name": "deployment", "value": uuid4().hex}])
        return str(connection.execute(query).scalar_one())
