"""Columns of the many Arrow types that hold text or bytes, as `string` and `binary`."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from geocast.errors import InputError

__all__ = ["as_binary", "as_text"]

_MAY_BE_NUMBERS = ("id", "subscriber")


def as_binary(column: pa.Array, name: str, path: Path) -> pa.Array:
    """Return a column of bytes as `binary`; raises InputError for another type."""
    column = _plain(column)
    kind = column.type
    if not (
        pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_binary_view(kind)
        or pa.types.is_fixed_size_binary(kind)
        or pa.types.is_null(kind)
    ):
        raise InputError(f"{path}: the column {name!r} holds {kind}; WKB (binary) is expected")
    return column.cast(pa.binary())


def as_text(column: pa.Array, name: str, path: Path) -> tuple[pa.Array, dict[int, str]]:
    """Return a column of text as `string`, and the reason for each index that is not UTF-8.

    Numbers become their decimal text where the column may hold numbers (`id`, `subscriber`).
    What is not UTF-8 becomes null. Raises InputError for a column of another type.
    """
    column = _plain(column)
    kind = column.type
    numeric = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    textual = (
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_string_view(kind)
        or pa.types.is_null(kind)
    )
    if not textual and not (numeric and name in _MAY_BE_NUMBERS):
        raise InputError(f"{path}: the column {name!r} holds {kind}; text is expected")
    text = column.cast(pa.string())
    try:
        text.validate(full=True)
    except pa.ArrowInvalid:
        return _without_bad_utf8(text, name)
    return text, {}


def _without_bad_utf8(column: pa.Array, name: str) -> tuple[pa.Array, dict[int, str]]:
    values: list[str | None] = []
    bad = {}
    for i, value in enumerate(column.view(pa.binary()).to_pylist()):
        try:
            values.append(None if value is None else value.decode())
        except UnicodeDecodeError:
            values.append(None)
            bad[i] = f"`{name}` is not UTF-8 text"
    return pa.array(values, pa.string()), bad


def _plain(column: pa.Array) -> pa.Array:
    """Return a column without extension type and dictionary."""
    if isinstance(column.type, pa.BaseExtensionType):
        column = column.storage
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
