"""Array relations: two sets of values for every row, compared by numbering their elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from geocast.match.content import extract
from geocast.match.content.columns import Piece, plain_pieces
from geocast.match.content.values import Booleans, Instants, Mask, Numbers, Strings, Truth

__all__ = ["Elements", "Value", "list_elements", "relate"]

Value = Numbers | Strings | Booleans | Instants
Rows = NDArray[np.int64]


@dataclass(slots=True)
class Elements:
    """The elements of one array per row, kind by kind, each with the row it belongs to.

    `known` is where there is an array at all. Elements that are null or of kinds that cannot
    be compared are `strange` and equal nothing.
    """

    known: Mask
    groups: list[tuple[Value, Rows]] = field(default_factory=list)
    strange: list[Rows] = field(default_factory=list)

    def of(self, kind: type[Value]) -> list[tuple[Value, Rows]]:
        """Return the groups of one kind."""
        return [group for group in self.groups if isinstance(group[0], kind)]

    def with_times(self) -> Elements:
        """Return them with every string that is a date or time taken as such."""
        groups: list[tuple[Value, Rows]] = []
        for value, rows in self.groups:
            if isinstance(value, Strings):
                whole = [Piece(value.data, None)]
                times = extract.instants(whole, len(value.data), extract.is_text)
                groups.append((times, rows))
                value = Strings(value.data, value.valid & ~times.valid)
            groups.append((value, rows))
        return Elements(self.known, groups, self.strange)


def list_elements(pieces: Sequence[Piece], length: int) -> Elements:
    """Return the elements of a list column."""
    result = Elements(np.zeros(length, np.bool_))
    for piece in pieces:
        if _is_list(piece.array.type):
            lists = piece.array.cast(pa.large_list(piece.array.type.value_type))
            rows = np.arange(length) if piece.rows is None else piece.rows
            result.known[rows] = np.asarray(lists.is_valid())
            lengths = np.asarray(lists.value_lengths().fill_null(0))
            owners = np.repeat(rows, lengths)
            _add_elements(result, pc.list_flatten(lists), owners)
    return result


def _is_list(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def _add_elements(result: Elements, values: pa.Array, owners: Rows) -> None:
    usable = np.zeros(len(owners), np.bool_)
    for piece in plain_pieces(values):
        places = np.arange(len(owners)) if piece.rows is None else piece.rows
        value = _element_values(piece.array)
        if value is not None:
            result.groups.append((value, owners[places]))
            usable[places] = value.valid
    result.strange.append(owners[~usable])


def _element_values(array: pa.Array) -> Value | None:
    whole, count, kind = [Piece(array, None)], len(array), array.type
    if extract.is_text(kind):
        return extract.strings(whole, count)
    if extract.is_time(kind):
        return extract.instants(whole, count, extract.is_time)
    if pa.types.is_boolean(kind):
        return extract.booleans(whole, count)
    return extract.numbers(whole, count) if extract.is_number(kind) else None


def relate(name: str, left: Elements, right: Elements) -> Truth:
    """Decide a relation row by row; unknown where a side has no array."""
    if left.of(Instants) or right.of(Instants):
        left, right = left.with_times(), right.with_times()
    known = left.known & right.known
    first, second = _keys(left, right)
    value = np.ones(len(known), np.bool_)
    if name in ("a_equals", "a_containedby"):
        value &= _covered(first, second, len(known))
        value[np.concatenate([*left.strange, np.empty(0, np.int64)])] = False
    if name in ("a_equals", "a_contains"):
        value &= _covered(second, first, len(known))
        value[np.concatenate([*right.strange, np.empty(0, np.int64)])] = False
    if name == "a_overlaps":
        value = ~_covered(np.intersect1d(first, second), np.empty(0, np.int64), len(known))
    return Truth(value & known, known)


def _covered(keys: Rows, others: Rows, length: int) -> Mask:
    """Return the rows all of whose keys are among the others."""
    result = np.ones(length, np.bool_)
    result[keys[~np.isin(keys, others)] % length] = False
    return result


def _keys(left: Elements, right: Elements) -> tuple[Rows, Rows]:
    """Give the distinct values of both sides numbers; a key is number * length + row."""
    length, start = len(left.known), 0
    keys: tuple[list[Rows], list[Rows]] = ([], [])
    for kind, encode in _ENCODERS.items():
        groups = [
            (side, *group) for side, all_ in enumerate((left, right)) for group in all_.of(kind)
        ]
        codes = encode([value for _, value, _ in groups])
        for (side, value, rows), code in zip(groups, codes, strict=True):
            valid = np.broadcast_to(value.valid, len(rows))
            keys[side].append(((start + code) * length + rows)[valid])
        start += max((int(code.max(initial=-1)) + 1 for code in codes), default=0)
    first, second = (np.unique(np.concatenate([*side, np.empty(0, np.int64)])) for side in keys)
    return first, second


def _split(codes: NDArray[Any], values: Sequence[Value]) -> list[Rows]:
    ends = np.cumsum([len(value.data) for value in values])
    return np.split(np.asarray(codes, np.int64), ends[:-1])


def _encode_strings(values: Sequence[Any]) -> list[Rows]:
    if not values:
        return []
    pool = pa.concat_arrays([value.data for value in values]).dictionary_encode()
    return _split(np.asarray(pool.indices.fill_null(0)), values)


def _encode_plain(values: Sequence[Any]) -> list[Rows]:
    """Give booleans or numbers their places; types that differ meet as Python numbers."""
    if not values:
        return []
    same = len({value.data.dtype for value in values}) == 1
    arrays = [value.data if same else value.data.astype(object) for value in values]
    _, codes = np.unique(np.concatenate(arrays), return_inverse=True)
    return _split(codes, values)


def _encode_instants(values: Sequence[Any]) -> list[Rows]:
    if not values:
        return []
    marked = np.concatenate([value.data * 2 + value.day for value in values])
    return _split(np.unique(marked, return_inverse=True)[1], values)


_ENCODERS: dict[type, Callable[[Sequence[Any]], list[Rows]]] = {
    Numbers: _encode_plain,
    Strings: _encode_strings,
    Booleans: _encode_plain,
    Instants: _encode_instants,
}
