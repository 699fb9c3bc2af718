"""Column types that change from batch to batch, brought to one type that Parquet can store."""

from __future__ import annotations

from typing import Any

import orjson
import pyarrow as pa

__all__ = ["conform", "json_default", "merge", "storable"]


def storable(kind: pa.DataType) -> pa.DataType:
    """Return the type in which Parquet stores a column: unions and empty structs are text."""
    if pa.types.is_union(kind):
        return pa.string()
    if pa.types.is_struct(kind):
        fields = [kind.field(i) for i in range(kind.num_fields)]
        return pa.struct([(f.name, storable(f.type)) for f in fields]) if fields else pa.string()
    if pa.types.is_list(kind):
        return pa.list_(storable(kind.value_type))
    return kind


def merge(one: pa.DataType, other: pa.DataType) -> pa.DataType:
    """Return a storable type that holds the values of two: text if nothing better does.

    Whole numbers and fractions merge to `double`, which rounds beyond 2**53.
    """
    if one == other or pa.types.is_null(other):
        return one
    if pa.types.is_null(one):
        return other
    if pa.types.is_struct(one) and pa.types.is_struct(other):
        types = {field.name: field.type for field in one}
        for field in other:
            types[field.name] = merge(types.get(field.name, pa.null()), field.type)
        return pa.struct(list(types.items()))
    if pa.types.is_list(one) and pa.types.is_list(other):
        return pa.list_(merge(one.value_type, other.value_type))
    if _is_number(one) and _is_number(other):
        whole = pa.types.is_integer(one) and pa.types.is_integer(other)
        return pa.int64() if whole else pa.float64()
    return pa.string()


def conform(column: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return a column, with no offset of its own, as a type that `storable` and `merge` gave."""
    if column.type == kind:
        return column
    if pa.types.is_null(column.type):
        return pa.nulls(len(column), kind)
    if pa.types.is_string(kind):
        return pa.array([_text(value) for value in column.to_pylist()], kind)
    if pa.types.is_struct(kind):
        return _conform_struct(column, kind)
    if pa.types.is_list(kind):
        values = conform(column.values, kind.value_type)
        return pa.ListArray.from_arrays(column.offsets, values, mask=column.is_null())
    return column.cast(kind, safe=False)


def _conform_struct(column: pa.StructArray, kind: pa.StructType) -> pa.Array:
    present = {field.name for field in column.type}
    children = [
        conform(column.field(field.name), field.type)
        if field.name in present
        else pa.nulls(len(column), field.type)
        for field in kind
    ]
    return pa.StructArray.from_arrays(children, fields=list(kind), mask=column.is_null())


def json_default(value: Any) -> Any:
    """Return what stands in JSON for a value that JSON has no form for."""
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return value.hex() if isinstance(value, bytes) else str(value)


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return orjson.dumps(value, default=json_default).decode()


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))
