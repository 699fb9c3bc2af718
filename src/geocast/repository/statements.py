"""What SQL dialects write differently, and what must be quicker than SQLAlchemy makes it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, Final, TypeVar

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    Dialect,
    Table,
    Text,
    any_,
    bindparam,
    literal,
    select,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite

from geocast.repository.copying import copy_rows
from geocast.repository.tables import counter
from geocast.repository.text import escaped

__all__ = [
    "Numbers",
    "among",
    "chunks",
    "insert_absent",
    "insert_rows",
    "lock_numbers",
    "lock_rows",
    "take_numbers",
    "upsert",
]

_T = TypeVar("_T")

# Databases bound the number of parameters that a statement may have.
_CHUNK: Final = 5_000


class Numbers:
    """The counters that there are."""

    CHANGE: Final = "change"
    CURSOR: Final = "cursor"
    SUBSCRIPTION: Final = "subscription"
    VERSION: Final = "version"


_TAKE: Final = (
    update(counter)
    .where(counter.c.name == bindparam("which"))
    .values(value=counter.c.value + bindparam("count"))
    .returning(counter.c.value)
)
_LOCK: Final = select(counter.c.value).where(counter.c.name == bindparam("which")).with_for_update()


def take_numbers(connection: Connection, which: str, count: int) -> int:
    """Take the next numbers of a counter and return the first of them.

    Nobody else can take any until this transaction ends.
    """
    last: int = connection.execute(_TAKE, {"which": which, "count": count}).scalar_one()
    return last - count + 1


def lock_numbers(connection: Connection, which: str) -> int:
    """Return the newest number of a counter, and keep others from taking more meanwhile."""
    newest: int = connection.execute(_LOCK, {"which": which}).scalar_one()
    return newest


def among(
    connection: Connection, column: Column[Any], values: Sequence[int] | Sequence[str]
) -> ColumnElement[bool]:
    """The condition that a column has one of many values; one parameter where that is possible.

    A statement of thousands of parameters takes longer to read than to carry out.
    """
    if connection.dialect.name != "postgresql":
        return column.in_(values)
    if isinstance(column.type, Text):
        texts = [escaped(str(value)) for value in values]
        return column == any_(literal(texts, postgresql.ARRAY(Text())))
    return column == any_(literal(list(values), postgresql.ARRAY(BigInteger())))


def lock_rows(connection: Connection, key: Column[int], values: Sequence[int]) -> None:
    """Keep others from changing the rows that have one of these keys, in ascending order."""
    if connection.dialect.name == "postgresql":
        rows = select(key).where(among(connection, key, values)).order_by(key)
        connection.execute(rows.with_for_update())


def insert_rows(connection: Connection, table: Table, rows: Iterable[tuple[Any, ...]]) -> None:
    """Insert many rows, each a tuple in the order of the table's columns, past SQLAlchemy."""
    if connection.dialect.name == "postgresql":
        copy_rows(connection, table, rows)
        return
    cursor: Any = connection.connection.cursor()
    try:
        cursor.executemany(_insertion(table, connection.dialect), rows)
    finally:
        cursor.close()


@lru_cache(maxsize=64)
def _insertion(table: Table, dialect: Dialect) -> str:
    return str(table.insert().compile(dialect=dialect))


def upsert(connection: Connection, table: Table) -> sqlite.Insert | postgresql.Insert:
    """Return an insertion that has `on_conflict_do_update` and `on_conflict_do_nothing`."""
    if connection.dialect.name == "postgresql":
        return postgresql.insert(table)
    return sqlite.insert(table)


def insert_absent(connection: Connection, table: Table, rows: Sequence[dict[str, Any]]) -> None:
    """Insert the rows whose keys are not there yet."""
    if rows:
        connection.execute(upsert(connection, table).on_conflict_do_nothing(), rows)


def chunks(values: Iterable[_T], size: int = _CHUNK) -> Iterator[list[_T]]:
    """Cut values into lists that fit into a statement."""
    iterator = iter(values)
    while part := list(islice(iterator, size)):
        yield part
