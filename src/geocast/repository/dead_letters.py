"""Records that could not be used, and why."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, delete, func, select

from geocast.model import now
from geocast.repository.database import Database
from geocast.repository.locks import Guards, guard
from geocast.repository.repeat import repeatable, repeated
from geocast.repository.statements import insert_absent
from geocast.repository.tables import dead_letter
from geocast.repository.values import DeadLetter

__all__ = ["DeadLetters", "insert_letters"]


class DeadLetters:
    """Kept until they expire, for their publishers to look at."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @repeated
    def add(self, letters: Sequence[DeadLetter]) -> None:
        """Add letters; those whose place in the log is known are added once only."""
        if letters:
            with self._database.write() as connection:
                insert_letters(connection, letters)

    def page(
        self,
        after: int = 0,
        limit: int = 100,
        publisher: str | None = None,
        *,
        newest: bool = False,
    ) -> list[DeadLetter]:
        """Return letters with numbers above `after`, in that order; of one publisher, or all.

        With `newest` they are those below `after`, from the end on where that is 0.
        """
        columns = dead_letter.c
        query = select(
            columns.stage,
            columns.publisher,
            columns.id,
            columns.reason,
            columns.value,
            columns.partition,
            columns.offset,
            columns.number,
            columns.at,
        )
        if not newest or after:
            query = query.where(columns.number < after if newest else columns.number > after)
        if publisher is not None:
            query = query.where(columns.publisher == publisher)
        with self._database.read() as connection:
            order = columns.number.desc() if newest else columns.number
            rows = connection.execute(query.order_by(order).limit(limit)).all()
        return [DeadLetter(*row) for row in rows]

    def count(self) -> int:
        """Return how many there are."""
        with self._database.read() as connection:
            return connection.execute(select(func.count()).select_from(dead_letter)).scalar_one()

    @repeatable
    def expire(self, before: int) -> int:
        """Remove those that were added before a time; return how many."""
        with self._database.write() as connection:
            return connection.execute(delete(dead_letter).where(dead_letter.c.at < before)).rowcount


def insert_letters(connection: Connection, letters: Sequence[DeadLetter]) -> None:
    """Add letters within a transaction."""
    if not letters:
        return
    guard(connection, Guards.LETTERS)
    at = now()
    rows = [
        {
            "stage": letter.where,
            "publisher": letter.publisher,
            "id": letter.id,
            "reason": letter.reason,
            "value": letter.value,
            "partition": letter.partition,
            "offset": letter.offset,
            "at": at,
        }
        for letter in letters
    ]
    insert_absent(connection, dead_letter, rows)
