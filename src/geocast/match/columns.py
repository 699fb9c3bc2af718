"""Columns of the tables that users hand in: found, brought to one type, or refused."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from geocast.errors import InputError

__all__ = [
    "Identified",
    "binary_column",
    "one_array",
    "repeated",
    "require_table",
    "string_column",
    "string_ids",
]


@dataclass(frozen=True)
class Identified:
    """The ids of a table as strings; `reasons` says of some rows why their id is none."""

    values: pa.StringArray
    reasons: dict[int, str]

    def text(self, row: int) -> str | None:
        """Return the id of a row, None where it has none."""
        value: str | None = self.values[row].as_py()
        return value


def one_array(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """Return a column as one array, its dictionary decoded, text and bytes not as views."""
    if isinstance(column, pa.ChunkedArray):
        column = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_string_view(column.type):
        return column.cast(pa.string())
    if pa.types.is_binary_view(column.type):
        return column.cast(pa.binary())
    return column


def repeated(values: pa.Array) -> NDArray[np.bool_]:
    """Return which values an earlier one equals."""
    encoded = values.dictionary_encode()
    codes = encoded.indices.fill_null(len(encoded.dictionary)).to_numpy()
    rows = np.arange(len(codes))
    first = np.empty(len(encoded.dictionary) + 1, np.int64)
    # Of several values for one place numpy keeps the last, which is the first here.
    first[codes[::-1]] = rows[::-1]
    found: NDArray[np.bool_] = first[codes] != rows
    return found


def require_table(table: object, side: str) -> None:
    """Raise InputError unless this is an Arrow table or batch."""
    if not isinstance(table, pa.Table | pa.RecordBatch):
        raise InputError(f"{side} must be an Arrow table, not {type(table).__name__}")


def _column(table: pa.Table | pa.RecordBatch, name: str, side: str) -> pa.Array:
    if name not in table.schema.names:
        there = ", ".join(table.schema.names) or "none"
        raise InputError(f"{side} have no column {name!r}; there are: {there}")
    if len(table.schema.get_all_field_indices(name)) > 1:
        raise InputError(f"{side} have more than one column {name!r}")
    return one_array(table.column(name))


def binary_column(table: pa.Table | pa.RecordBatch, name: str, side: str) -> pa.Array:
    """Return a column of bytes, as binary or large binary."""
    column = _column(table, name, side)
    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    kind = column.type
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return column
    if pa.types.is_null(kind) or pa.types.is_fixed_size_binary(kind):
        return column.cast(pa.binary())
    raise InputError(f"column {name!r} of {side} must hold WKB (binary), not {kind}")


def string_column(table: pa.Table | pa.RecordBatch, name: str, side: str) -> pa.Array:
    """Return a column of text."""
    column = _column(table, name, side)
    kind = column.type
    if pa.types.is_string(kind):
        return column
    if pa.types.is_null(kind) or pa.types.is_large_string(kind):
        return column.cast(pa.string())
    raise InputError(f"column {name!r} of {side} must hold text, not {kind}")


def string_ids(table: pa.Table | pa.RecordBatch, side: str) -> Identified:
    """Return the column `id` as text: whole numbers become their decimal digits."""
    require_table(table, side)
    column = _column(table, "id", side)
    if pa.types.is_integer(column.type):
        column = column.cast(pa.string())
    elif not pa.types.is_string(column.type):
        if not (pa.types.is_large_string(column.type) or pa.types.is_null(column.type)):
            raise InputError(f"column 'id' of {side} must hold text or integers, not {column.type}")
        column = column.cast(pa.string())
    reasons: dict[int, str] = {}
    if column.null_count:
        reasons |= dict.fromkeys(_rows(column.is_null()), "id is null")
    if pc.min(pc.binary_length(column), skip_nulls=True).as_py() == 0:
        reasons |= dict.fromkeys(_rows(pc.equal(column, "").fill_null(False)), "id is empty")
    return Identified(column, reasons)


def _rows(which: pa.BooleanArray) -> list[int]:
    rows: list[int] = np.flatnonzero(which.to_numpy(zero_copy_only=False)).tolist()
    return rows
