"""The kinds of JSON values: which of them fit in one Arrow column, and in which type.

A kind is `None` (null fits everywhere), the name of a scalar, `("list", kind)`, or
`("object", ((name, kind), ...))`. Kinds merge where one Arrow type without a union holds
both. There are no unions inside structs and lists, because Arrow cannot look into a struct
with nulls for a union; the union stands at the top of a column, or not at all.
"""

from __future__ import annotations

from typing import Any

import orjson
import pyarrow as pa

__all__ = ["CONFLICT", "Kind", "adapt", "kind_of", "label", "leaves", "merge_kinds", "type_of"]

Kind = str | tuple[str, Any] | None

CONFLICT = object()
"""What merging two kinds gives that do not fit in one column."""

_MAX_DEPTH = 8
_EXACT = 1 << 53
_INT64 = range(-(1 << 63), 1 << 63)
_NUMBERS = {frozenset(("small", "whole")): "whole", frozenset(("small", "number")): "number"}
_TYPES = {
    None: pa.null(),
    "boolean": pa.bool_(),
    "small": pa.int64(),
    "whole": pa.int64(),
    "number": pa.float64(),
    "string": pa.string(),
    "text": pa.string(),
}


def kind_of(value: Any, depth: int = 0) -> Kind:
    """Return the kind of a parsed JSON value.

    Whole numbers are `small` if a double holds them exactly, else `whole`, else, beyond 64
    bits, `number` as fractions are. An array whose elements do not fit in one column, and what
    is nested too deeply, is `text`: it is kept as JSON text.
    """
    if value is None:
        return None
    if isinstance(value, str):
        return "string"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "small" if abs(value) <= _EXACT else "whole" if value in _INT64 else "number"
    if isinstance(value, float):
        return "number"
    if depth >= _MAX_DEPTH:
        return "text"
    if isinstance(value, dict):
        return "object", tuple((name, kind_of(v, depth + 1)) for name, v in value.items())
    return _list_kind(value, depth)


def _list_kind(values: list[Any], depth: int) -> Kind:
    merged: Any = None
    for kind in dict.fromkeys(kind_of(value, depth + 1) for value in values):
        merged = merge_kinds(merged, kind)
        if merged is CONFLICT:
            return "text"
    return "list", merged


def merge_kinds(one: Any, other: Any) -> Any:
    """Return the kind that holds values of both, or CONFLICT."""
    if one == other or other is None:
        return one
    if one is None:
        return other
    if isinstance(one, str) or isinstance(other, str):
        return _NUMBERS.get(frozenset((one, other)), CONFLICT)
    if one[0] != other[0]:
        return CONFLICT
    if one[0] == "list":
        merged = merge_kinds(one[1], other[1])
        return CONFLICT if merged is CONFLICT else ("list", merged)
    return _merge_objects(dict(one[1]), other[1])


def _merge_objects(fields: dict[str, Any], others: tuple[tuple[str, Any], ...]) -> Any:
    for name, kind in others:
        fields[name] = merge_kinds(fields.get(name), kind)
        if fields[name] is CONFLICT:
            return CONFLICT
    return "object", tuple(fields.items())


def leaves(kind: Kind) -> int:
    """Return how many plain columns a column of this kind consists of."""
    if kind is None or isinstance(kind, str):
        return 1
    if kind[0] == "list":
        return leaves(kind[1])
    return sum(leaves(field) for _, field in kind[1])


def type_of(kind: Kind) -> pa.DataType:
    """Return the Arrow type of a column of this kind."""
    if kind is None or isinstance(kind, str):
        return _TYPES[kind]
    if kind[0] == "list":
        return pa.list_(type_of(kind[1]))
    return pa.struct([(name, type_of(field)) for name, field in kind[1]])


def adapt(value: Any, kind: Kind) -> Any:
    """Return a value in the form in which Arrow takes it for a column of this kind."""
    if value is None or kind is None:
        return None
    if isinstance(kind, str):
        return _adapt_scalar(value, kind)
    if kind[0] == "list":
        return [adapt(element, kind[1]) for element in value]
    return {name: adapt(value.get(name), field) for name, field in kind[1]}


def _adapt_scalar(value: Any, kind: str) -> Any:
    if kind == "number":
        return float(value)
    return orjson.dumps(value).decode() if kind == "text" else value


def label(kind: Kind) -> str:
    """Return a kind's name as a member of a union."""
    if kind is None or isinstance(kind, str):
        return {None: "null", "small": "integer", "whole": "integer"}.get(kind, str(kind))
    return f"list of {label(kind[1])}" if kind[0] == "list" else "object"
