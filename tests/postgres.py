"""A private PostgreSQL server for tests, and a fresh database in it for each of them."""

from __future__ import annotations

import fcntl
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from uuid import uuid4

import psycopg
from sqlalchemy.engine import make_url

from geocast.repository import Repository
from geocast.repository.tables import metadata

__all__ = ["Server", "shared_server"]

SCRIPT = Path(__file__).parents[1] / "scripts" / "postgres.sh"
TEMPLATE = "geocast_template"

# Those that refer to others come first.
_TABLES: Final = [
    table.name for table in reversed(metadata.sorted_tables) if table.name != "counter"
]
_HANG_UP: Final = """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()"""
_EMPTY: Final = ";".join(
    [
        _HANG_UP,
        *(f'DELETE FROM "{table}"' for table in _TABLES),
        "UPDATE counter SET value = 0",
        "SELECT setval(oid::regclass, 1, false) FROM pg_class WHERE relkind = 'S'",
    ]
)


def _run(*words: str) -> str:
    done = subprocess.run([SCRIPT, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


class Server:
    """A server that scripts/postgres.sh started."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.url = (directory / "url").read_text().strip()
        self.password = (directory / "password").read_text().strip()
        self.port = make_url(self.url).port
        self._kept: str | None = None

    @classmethod
    def start(cls, owner: int) -> Server:
        """Start a server that ends with the process `owner` at the latest."""
        server = cls(Path(_run("start", str(owner)).splitlines()[-1]))
        server.execute(f"CREATE DATABASE {TEMPLATE}")
        Repository.open(server.url_of(TEMPLATE)).close()
        return server

    def url_of(self, database: str) -> str:
        return make_url(self.url).set(database=database).render_as_string(hide_password=False)

    def execute(self, statement: str) -> None:
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(statement.encode())

    @contextmanager
    def database(self, template: str = TEMPLATE) -> Iterator[str]:
        """Give the URL of a new database: an empty repository, or nothing (`template1`)."""
        name = f"test_{uuid4().hex}"
        self.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        try:
            yield self.url_of(name)
        finally:
            self.execute(f"DROP DATABASE {name} WITH (FORCE)")

    @contextmanager
    def repository(self) -> Iterator[str]:
        """Give the URL of an empty repository; one at a time, since it is emptied and used again.

        To make a database takes a hundred times as long.
        """
        if self._kept is None:
            name = f"kept_{uuid4().hex}"
            self.execute(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE}")
            self._kept = self.url_of(name)
        yield self._kept
        with psycopg.connect(self._kept, autocommit=True) as connection:
            connection.execute(_EMPTY.encode())

    def crash(self) -> None:
        """Stop it at once, as if it were killed."""
        _run("crash", str(self.directory))

    def resume(self) -> None:
        """Start it again where it was."""
        _run("resume", str(self.directory))

    def stop(self) -> None:
        """Stop it and remove what it had."""
        _run("stop", str(self.directory))


def shared_server(directory: Path) -> Server:
    """Return the server of a test run; the first process that asks starts it for all.

    It ends when the run does, in whatever way.
    """
    worker = "PYTEST_XDIST_WORKER" in os.environ
    place = directory / "postgres-server"
    with (directory / "postgres-lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not place.exists():
            server = Server.start(os.getppid() if worker else os.getpid())
            place.write_text(str(server.directory))
        return Server(Path(place.read_text()))
