"""The columns of a batch by property name, taken apart into pieces of one plain type."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

__all__ = ["Piece", "find_column", "plain_pieces"]


@dataclass(frozen=True, slots=True)
class Piece:
    """Some rows of a column, all of one type that is no union, dictionary or extension.

    `rows` are their places in the batch; None if the piece is the whole column.
    """

    array: pa.Array
    rows: NDArray[np.int64] | None


def find_column(batch: pa.RecordBatch, name: str) -> list[Piece]:
    """Return the pieces of a property; none if the batch does not have it.

    A column of that very name comes first; otherwise each dot may lead into a struct.
    """
    index = batch.schema.get_field_index(name)
    if index >= 0:
        return list(plain_pieces(batch.column(index)))
    return list(_inside(name, lambda head: find_column(batch, head)))


def _inside(name: str, find: Any) -> Iterator[Piece]:
    """Look for the rest of a dotted name inside the structs that its head leads to."""
    head, dot, rest = name.rpartition(".")
    while dot:
        structs = [piece for piece in find(head) if pa.types.is_struct(piece.array.type)]
        found = [piece for struct in structs for piece in _field(struct, rest)]
        if found:
            yield from found
            return
        head, dot, tail = head.rpartition(".")
        rest = f"{tail}.{rest}"


def _field(struct: Piece, name: str) -> Iterator[Piece]:
    index = struct.array.type.get_field_index(name)
    if index >= 0:
        yield from plain_pieces(pc.struct_field(struct.array, [index]), struct.rows)


def plain_pieces(array: pa.Array, rows: NDArray[np.int64] | None = None) -> Iterator[Piece]:
    """Take apart unions; decode dictionaries, run lengths and extensions."""
    kind = array.type
    if pa.types.is_union(kind):
        yield from _union_pieces(array, rows)
    elif pa.types.is_dictionary(kind):
        yield from plain_pieces(array.dictionary_decode(), rows)
    elif pa.types.is_run_end_encoded(kind):
        yield from plain_pieces(pc.run_end_decode(array), rows)
    elif isinstance(array, pa.ExtensionArray):
        yield from plain_pieces(array.storage, rows)
    elif not pa.types.is_null(kind):
        yield Piece(array, rows)


def _union_pieces(array: pa.UnionArray, rows: NDArray[np.int64] | None) -> Iterator[Piece]:
    codes = _union_buffer(array, 1, np.int8)
    places = _union_buffer(array, 2, np.int32) if array.type.mode == "dense" else None
    for child, code in enumerate(array.type.type_codes):
        here = np.flatnonzero(codes == code)
        if len(here):
            inside = here if places is None else places[here]
            values = array.field(child).take(pa.array(inside))
            yield from plain_pieces(values, here if rows is None else rows[here])


def _union_buffer(array: pa.UnionArray, index: int, kind: type[np.generic]) -> NDArray[Any]:
    """Return type codes or offsets; Arrow's own accessors forget that an array is a slice."""
    buffer = array.buffers()[index]
    return np.frombuffer(buffer, kind)[array.offset : array.offset + len(array)]
