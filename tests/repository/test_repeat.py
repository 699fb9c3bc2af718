"""What is tried again, and what must not be."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest
from sqlalchemy import Connection

from geocast.errors import UnavailableError
from geocast.repository.database import Database
from geocast.repository.repeat import repeatable, repeated

LOST = UnavailableError("lost", undone=True)
UNKNOWN = UnavailableError("unknown", undone=False)
CONFLICT = UnavailableError("in the way", undone=True, conflict=True)


class NoDatabase(Database):
    """One that cannot be reached; how often is counted."""

    def __init__(self, patience: float, *errors: UnavailableError) -> None:
        super().__init__("none", patience)
        self.errors = list(errors)
        self.calls = 0

    def call(self) -> int:
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)
        return self.calls

    def read(self) -> AbstractContextManager[Connection]:
        raise NotImplementedError

    def write(self, *, durable: bool = True) -> AbstractContextManager[Connection]:
        raise NotImplementedError

    def peek(self, statement: str) -> Any:
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError


@repeated
def once(database: NoDatabase) -> int:
    return database.call()


@repeatable
def any_number_of_times(database: NoDatabase) -> int:
    return database.call()


@pytest.fixture(autouse=True)
def _no_time_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: None)


@pytest.mark.parametrize("call", [once, any_number_of_times])
def test_a_conflict_is_tried_again_without_patience(call: Callable[[NoDatabase], int]) -> None:
    assert call(NoDatabase(0.0, CONFLICT, CONFLICT)) == 3


def test_conflicts_come_to_an_end() -> None:
    with pytest.raises(UnavailableError, match="in the way"):
        once(NoDatabase(9.0, *[CONFLICT] * 100))


@pytest.mark.parametrize("call", [once, any_number_of_times])
def test_a_lost_database_is_waited_for_as_long_as_was_said(
    call: Callable[[NoDatabase], int],
) -> None:
    assert call(NoDatabase(60.0, LOST, LOST, LOST)) == 4
    impatient = NoDatabase(0.0, LOST)
    with pytest.raises(UnavailableError, match="lost"):
        call(impatient)
    assert impatient.calls == 1


def test_what_may_have_been_done_is_not_done_twice() -> None:
    database = NoDatabase(60.0, UNKNOWN)
    with pytest.raises(UnavailableError, match="unknown"):
        once(database)
    assert database.calls == 1
    assert any_number_of_times(NoDatabase(60.0, UNKNOWN)) == 2
