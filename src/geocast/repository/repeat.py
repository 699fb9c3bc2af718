"""Transactions that are tried again, when the database could not be reached or gave up on them."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable
from functools import wraps
from typing import Any, Final, ParamSpec, TypeVar

from geocast.errors import UnavailableError
from geocast.repository.database import Database

__all__ = ["repeatable", "repeated"]

_P = ParamSpec("_P")
_T = TypeVar("_T")
_log: Final = logging.getLogger(__name__)
_CONFLICTS: Final = 8
"""How often a transaction is tried that got in the way of others."""

_FIRST_WAIT: Final = 0.05
_LONGEST_WAIT: Final = 2.0


def repeated(call: Callable[_P, _T]) -> Callable[_P, _T]:
    """Have a call tried again while it is known that nothing of it counts.

    It has one transaction that writes. A conflict with others is tried again some times; a
    database that cannot be reached, for the patience that the repository was opened with.
    """
    return _again(call, twice=False)


def repeatable(call: Callable[_P, _T]) -> Callable[_P, _T]:
    """Have a call tried again likewise, that may as well be done twice."""
    return _again(call, twice=True)


def _again(call: Callable[_P, _T], *, twice: bool) -> Callable[_P, _T]:
    @wraps(call)
    def tried(*args: _P.args, **named: _P.kwargs) -> _T:
        patient_until = time.monotonic() + _database(args[0]).patience
        attempt = 0
        while True:
            try:
                return call(*args, **named)
            except UnavailableError as error:
                attempt += 1
                in_time = time.monotonic() < patient_until
                hope = attempt < _CONFLICTS if error.conflict else in_time
                if not hope or not (error.undone or twice):
                    raise
                _wait(attempt, error)

    return tried


def _database(owner: Any) -> Database:
    """The database of a call: its first argument, or that which its object has."""
    found: Database = owner if isinstance(owner, Database) else owner._database
    return found


def _wait(attempt: int, error: UnavailableError) -> None:
    longest = min(_FIRST_WAIT * 2**attempt, _LONGEST_WAIT)
    if not error.conflict:
        _log.warning("%s; trying again", error)
    # Those who got in each other's way should not meet again.
    time.sleep(longest * random.uniform(0.3, 1.0))
