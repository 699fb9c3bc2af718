"""Many rows into a table of PostgreSQL at once: COPY, in its binary form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, Final

from sqlalchemy import BigInteger, Column, Connection, Double, Integer, LargeBinary, Table, Text

from geocast.repository.text import escaped

__all__ = ["copy_rows"]

_TYPES: Final = {
    BigInteger: "int8",
    Integer: "int4",
    Double: "float8",
    LargeBinary: "bytea",
    Text: "text",
}
"""By the first that a column's type is; nothing is converted on the way."""


def copy_rows(connection: Connection, table: Table, rows: Iterable[tuple[Any, ...]]) -> None:
    """Insert rows, each a tuple in the order of the table's columns, within the transaction."""
    command, types, texts = _plan(table)
    cursor: Any = connection.connection.cursor()
    with cursor, cursor.copy(command) as copy:
        copy.set_types(types)
        write = copy.write_row
        for row in _escaped(rows, texts) if texts else rows:
            write(row)


@lru_cache(maxsize=64)
def _plan(table: Table) -> tuple[str, list[str], list[int]]:
    """The command, the types of the columns, and which of them are text."""
    types = [_type(column) for column in table.columns]
    names = ", ".join(f'"{column.name}"' for column in table.columns)
    texts = [place for place, name in enumerate(types) if name == "text"]
    return f'COPY "{table.name}" ({names}) FROM STDIN (FORMAT BINARY)', types, texts


def _type(column: Column[Any]) -> str:
    return next(name for kind, name in _TYPES.items() if isinstance(column.type, kind))


def _escaped(rows: Iterable[tuple[Any, ...]], texts: list[int]) -> Iterator[list[Any]]:
    for row in rows:
        values = list(row)
        for place in texts:
            if values[place] is not None:
                values[place] = escaped(values[place])
        yield values
