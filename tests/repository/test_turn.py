"""Whose turn it is to write to SQLite, when somebody does not give it back."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from sqlalchemy.engine import URL

from geocast.errors import UnavailableError
from geocast.repository import sqlite
from geocast.repository.sqlite import SqliteDatabase

HOLDER = """
import sys
from sqlalchemy.engine import URL
from geocast.repository.sqlite import SqliteDatabase
with SqliteDatabase(URL.create("sqlite", database=sys.argv[1])).write():
    print("writing", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "repository.sqlite"


def database(file: Path) -> SqliteDatabase:
    return SqliteDatabase(URL.create("sqlite", database=str(file)))


@contextmanager
def writer(file: Path) -> Iterator[subprocess.Popen[str]]:
    """A process in the midst of writing; it ends when it is told to."""
    command = [sys.executable, "-c", HOLDER, str(file)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "writing\n"
        try:
            yield process
        finally:
            process.kill()


def test_nobody_waits_for_ever_for_a_process_that_was_stopped(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "_PATIENCE", 0.2)
    with closing(database(file)) as mine, writer(file) as other:
        os.kill(other.pid, signal.SIGSTOP)
        with pytest.raises(UnavailableError, match="is one of the processes stopped") as caught:
            mine.write().__enter__()
        assert caught.value.undone
        assert not caught.value.conflict
        os.kill(other.pid, signal.SIGCONT)
        assert other.stdin is not None
        other.stdin.close()
        assert other.wait(10) == 0
        with mine.write() as connection:
            connection.exec_driver_sql("CREATE TABLE reached (one INTEGER)")


def test_who_is_killed_gives_the_turn_back(file: Path) -> None:
    with closing(database(file)) as mine, writer(file) as other:
        other.kill()
        with mine.write() as connection:
            connection.exec_driver_sql("CREATE TABLE reached (one INTEGER)")


def test_a_turn_that_failed_is_given_back(file: Path) -> None:
    with closing(database(file)) as mine, closing(database(file)) as other:
        with pytest.raises(ZeroDivisionError), mine.write():
            _ = 1 // 0
        for one in (mine, other, mine):
            with one.write() as connection:
                connection.exec_driver_sql("CREATE TABLE IF NOT EXISTS reached (one INTEGER)")


def test_closed_twice(file: Path) -> None:
    one = database(file)
    one.close()
    one.close()
