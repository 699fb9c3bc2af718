"""JSON values to Arrow columns, such that no record changes how its neighbours are typed.

A column of one kind of value becomes the plain Arrow type. A column that mixes kinds becomes
a dense union with one member for each kind, so that every value keeps its own type: `7` next
to `"seven"` is still a number. The same holds inside objects (struct) and arrays (list).
"""

from __future__ import annotations

from itertools import chain
from types import NoneType
from typing import Any

import numpy as np
import orjson
import pyarrow as pa

__all__ = ["column"]

_MAX_DEPTH = 8
_MAX_CELLS = 1 << 23
_INT64 = range(-(1 << 63), 1 << 63)
_SCALARS = {bool: "boolean", str: "string", int: "number", float: "number", dict: "object"}


def column(values: list[Any], depth: int = 0) -> pa.Array:
    """Return parsed JSON values as one Arrow array.

    - only nulls: `null`; booleans: `bool`; texts: `string`
    - whole numbers: `int64`; with fractions among them: `double`, unless that would change a
      whole number, then a union of both; whole numbers beyond 64 bits become `double`
    - objects: `struct`, a field for every name that occurs; arrays: `list`; an array that
      mixes kinds of elements becomes its JSON text
    - several of these: `dense_union`, nulls being in its first member
    - objects and arrays below 8 levels, or an object column with so many names that a struct
      would be vastly sparse: their JSON text
    """
    kinds = set(map(type, values))
    kinds.discard(NoneType)
    if not kinds:
        return pa.nulls(len(values))
    if kinds == {dict}:
        return _struct(values, depth)
    if kinds == {list}:
        return _list(values, depth)
    if len(kinds) == 1 or kinds == {int, float}:
        return _plain(values, depth)
    return _union(values, [_kind(value) for value in values], depth)


def _plain(values: list[Any], depth: int) -> pa.Array:
    try:
        return pa.array(values)
    except OverflowError:
        return column([_within_64_bits(value) for value in values], depth)
    except pa.ArrowInvalid:
        return _union(values, [_exact_kind(value) for value in values], depth)


def _within_64_bits(value: Any) -> Any:
    return float(value) if isinstance(value, int) and value not in _INT64 else value


def _exact_kind(value: Any) -> str | None:
    return None if value is None else "integer" if isinstance(value, int) else "number"


def _kind(value: Any) -> str | None:
    """Return the name of the union member for a value; None for null, which fits any."""
    if value is None:
        return None
    if type(value) is not list:
        return _SCALARS[type(value)]
    kinds = {_element_kind(element) for element in value} - {None}
    if len(kinds) > 1:
        return "text"
    return f"list of {next(iter(kinds))}" if kinds else "list"


def _element_kind(value: Any) -> str | None:
    return None if value is None else "list" if type(value) is list else _SCALARS[type(value)]


def _struct(values: list[Any], depth: int) -> pa.Array:
    names = list(dict.fromkeys(chain.from_iterable(v for v in values if v is not None)))
    if depth >= _MAX_DEPTH or len(names) * len(values) > _MAX_CELLS:
        return _text(values)
    if not names:
        return pa.array(values, pa.struct([]))
    fields = [[None if v is None else v.get(name) for v in values] for name in names]
    missing = pa.array([v is None for v in values])
    children = [column(field, depth + 1) for field in fields]
    return pa.StructArray.from_arrays(children, names=names, mask=missing)


def _list(values: list[Any], depth: int) -> pa.Array:
    if depth >= _MAX_DEPTH:
        return _text(values)
    elements = list(chain.from_iterable(v for v in values if v is not None))
    if len({_element_kind(element) for element in elements} - {None}) > 1:
        kinds = [_kind(value) for value in values]
        if set(kinds) <= {None, "text"}:
            return _text(values)
        return _union(values, kinds, depth)
    lengths = np.fromiter((0 if v is None else len(v) for v in values), np.int32, len(values))
    offsets = np.concatenate([np.zeros(1, np.int32), np.cumsum(lengths, dtype=np.int32)])
    missing = pa.array([v is None for v in values])
    return pa.ListArray.from_arrays(pa.array(offsets), column(elements, depth + 1), mask=missing)


def _text(values: list[Any]) -> pa.Array:
    return pa.array([None if v is None else orjson.dumps(v).decode() for v in values], pa.string())


def _union(values: list[Any], kinds: list[str | None], depth: int) -> pa.Array:
    names = sorted({kind for kind in kinds if kind is not None})
    code_of = {name: code for code, name in enumerate(names)}
    members: list[list[Any]] = [[] for _ in names]
    codes = np.empty(len(values), np.int8)
    offsets = np.empty(len(values), np.int32)
    for i, (value, kind) in enumerate(zip(values, kinds, strict=True)):
        code = 0 if kind is None else code_of[kind]
        codes[i], offsets[i] = code, len(members[code])
        members[code].append(value)
    children = [
        _text(member) if name == "text" else column(member, depth)
        for name, member in zip(names, members, strict=True)
    ]
    return pa.UnionArray.from_dense(pa.array(codes), pa.array(offsets), children, names)
