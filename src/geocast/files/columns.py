"""JSON values to Arrow columns, such that no record changes how its neighbours are typed.

A column of values that fit together becomes a plain Arrow array. A column of values that do
not becomes a dense union with one member for each kind, so that every value keeps its own
type: `7` next to `"seven"` is still a number.
"""

from __future__ import annotations

from types import NoneType
from typing import Any

import numpy as np
import pyarrow as pa

from geocast.files.kinds import (
    CONFLICT,
    Kind,
    adapt,
    kind_of,
    label,
    leaves,
    merge_kinds,
    type_of,
)

__all__ = ["column"]

_MAX_CELLS = 1 << 23
_MAX_MEMBERS = 100
_SCALARS = ({bool}, {str}, {int}, {float}, {int, float})


def column(values: list[Any]) -> pa.Array:
    """Return parsed JSON values as one Arrow array.

    - only nulls: `null`; booleans: `bool`; texts: `string`
    - whole numbers: `int64`; with fractions among them: `double`, unless that would change a
      whole number, then a union of both; whole numbers beyond 64 bits become `double`
    - objects: `struct`, a field for every name that occurs; arrays: `list`; an array that
      mixes kinds of elements becomes its JSON text
    - several of these, or objects with conflicting fields: `dense_union`; nulls are in its
      first member; unions occur nowhere else
    - objects and arrays below 8 levels, objects with so many names that a struct would be
      vastly sparse, and what would need more than 100 members: their JSON text
    """
    types = set(map(type, values)) - {NoneType}
    if not types:
        return pa.nulls(len(values))
    if types in _SCALARS:
        try:
            return pa.array(values)
        except (OverflowError, pa.ArrowInvalid):
            return _by_kind(values)
    return _by_kind(values)


def _by_kind(values: list[Any]) -> pa.Array:
    kinds = [kind_of(value) for value in values]
    groups, group_of = _group(dict.fromkeys(kinds))
    if len(groups) == 1:
        return _plain(values, groups[0])
    return _union(values, groups, [group_of[kind] for kind in kinds])


def _group(kinds: dict[Kind, None]) -> tuple[list[Kind], dict[Kind, int]]:
    """Merge kinds into as few as first-fit finds; return these, and where each kind went."""
    groups: list[Kind] = []
    group_of: dict[Kind, int] = {None: 0}
    for kind in kinds:
        if kind is None:
            continue
        for i, group in enumerate(groups):
            merged = merge_kinds(group, kind)
            if merged is not CONFLICT:
                groups[i], group_of[kind] = merged, i
                break
        else:
            if len(groups) == _MAX_MEMBERS:
                return ["text"], dict.fromkeys(kinds, 0)
            groups.append(kind)
            group_of[kind] = len(groups) - 1
    return groups, group_of


def _plain(values: list[Any], kind: Kind) -> pa.Array:
    if leaves(kind) * len(values) > _MAX_CELLS:
        kind = "text"
    return pa.array([adapt(value, kind) for value in values], type_of(kind))


def _union(values: list[Any], groups: list[Kind], codes: list[int]) -> pa.Array:
    members: list[list[Any]] = [[] for _ in groups]
    offsets = np.empty(len(values), np.int32)
    for i, (value, code) in enumerate(zip(values, codes, strict=True)):
        offsets[i] = len(members[code])
        members[code].append(value)
    children = [_plain(member, kind) for member, kind in zip(members, groups, strict=True)]
    return pa.UnionArray.from_dense(
        pa.array(codes, pa.int8()), pa.array(offsets), children, _labels(groups)
    )


def _labels(groups: list[Kind]) -> list[str]:
    """Return the names of the members, those that occur again with a number."""
    labels: list[str] = []
    for kind in groups:
        name = label(kind)
        count = sum(known.rstrip(" 0123456789") == name for known in labels)
        labels.append(f"{name} {count + 1}" if count else name)
    return labels
