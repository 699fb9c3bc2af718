"""One database: what the rest of the repository asks of it, whichever it is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from typing import Any

from sqlalchemy import Connection

__all__ = ["Database"]


class Database(ABC):
    """Gives out connections, from any thread; several processes may use the same database.

    `name` is what it is called in messages. For `patience` seconds a transaction that could not
    be made is tried again, where that is safe (`geocast.repository.repeat`).
    """

    def __init__(self, name: str, patience: float) -> None:
        self.name = name
        self.patience = patience

    @abstractmethod
    def read(self) -> AbstractContextManager[Connection]:
        """A transaction that sees one state of the database and changes nothing."""

    @abstractmethod
    def write(self, *, durable: bool = True) -> AbstractContextManager[Connection]:
        """A transaction that may write; undone if the block raises.

        It sees what others have committed when each of its statements begins. What it must be
        alone with, it locks first (`geocast.repository.locks`).

        One that need not be durable survives the death of any process, but if the machine dies
        it may be lost, together with all that came after it.
        """

    @abstractmethod
    def peek(self, statement: str) -> Any:
        """Return the one value that a statement gives, at a fraction of a transaction's cost."""

    @abstractmethod
    def close(self) -> None:
        """Close the connections."""
