"""Records one by one in, chunks of bounded size out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
import orjson
import pyarrow as pa

from geocast.files.chunk import SUBSCRIPTIONS, Chunk
from geocast.files.columns import column
from geocast.files.feature import BadRecordError, Record, load_json, parse_feature
from geocast.files.subscription import subscription_fields
from geocast.model import Reject, Side

__all__ = [
    "UNPARSED",
    "Build",
    "Located",
    "Wanted",
    "assemble",
    "pack_properties",
    "subscription_batch",
    "type_properties",
    "typed_columns",
]

UNPARSED = object()
"""Stands for "not parsed yet", since every Python value may come out of JSON."""

_MAX_BYTES = 1 << 25
_MAX_CELLS = 1 << 23
_MAX_REJECTS = 1 << 16


@dataclass(slots=True)
class Located:
    """The text of one record, its 0-based row, and the byte of the input where it ends.

    `value` is the parsed text where finding the record's end has parsed it already.
    """

    text: bytes
    row: int
    end: int
    value: Any = UNPARSED


class Wanted:
    """Which properties are asked for; None means all. `a.b` asks for `a`, to look inside."""

    def __init__(self, columns: Collection[str] | None) -> None:
        self._names = None if columns is None else {*columns, *_prefixes(columns)}

    def __contains__(self, name: str) -> bool:
        return self._names is None or name in self._names

    def of(self, properties: dict[str, Any]) -> dict[str, Any]:
        """Return those of the properties that are asked for."""
        if self._names is None:
            return properties
        return {name: value for name, value in properties.items() if name in self._names}


def _prefixes(columns: Collection[str]) -> Iterator[str]:
    for name in columns:
        while "." in name:
            name = name.rpartition(".")[0]
            yield name


Load = Callable[[bytes], Any]
Build = Callable[[list[str], list[bytes | None], list[dict[str, Any]]], pa.RecordBatch]


@dataclass
class _Pending:
    """The records of the chunk that is being filled."""

    ids: list[str] = field(default_factory=list)
    geometries: list[bytes | None] = field(default_factory=list)
    properties: list[dict[str, Any]] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    rejects: list[Reject] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    size: int = 0

    def add(self, record: Record, row: int) -> None:
        self.ids.append(record.id)
        self.geometries.append(record.geometry)
        self.properties.append(record.properties)
        self.rows.append(row)
        self.names.update(record.properties)

    def is_full(self, batch_rows: int) -> bool:
        """Tell whether rows, bytes of JSON, or cells (where names abound) are many enough."""
        rows = len(self.rows)
        return (
            rows >= batch_rows
            or self.size >= _MAX_BYTES
            or rows * len(self.names) >= _MAX_CELLS
            or len(self.rejects) >= _MAX_REJECTS
        )

    def chunk(self, build: Build, position: int) -> Chunk:
        batch = build(self.ids, self.geometries, self.properties)
        rows = np.array(self.rows, dtype=np.int64)
        return Chunk(batch, rows, tuple(self.rejects), position)


def assemble(
    texts: Iterable[Located],
    side: Side,
    wanted: Wanted,
    batch_rows: int,
    build: Build,
    load: Load = load_json,
) -> Iterator[Chunk]:
    """Yield the records as chunks; a record that cannot be read becomes a reject.

    `load` parses what is not parsed yet.
    """
    pending, position = _Pending(), 0
    for located in texts:
        try:
            pending.add(_record(located, side, wanted, load), located.row)
        except BadRecordError as bad:
            pending.rejects.append(Reject(side, located.row, bad.identifier, bad.reason))
        pending.size += len(located.text)
        position = located.end
        if pending.is_full(batch_rows):
            yield pending.chunk(build, position)
            pending = _Pending()
    if pending.rows or pending.rejects:
        yield pending.chunk(build, position)


def _record(located: Located, side: Side, wanted: Wanted, load: Load) -> Record:
    value = load(located.text) if located.value is UNPARSED else located.value
    record = parse_feature(located.text, value, side)
    if side == "subscriptions":
        record.properties = dict(subscription_fields(record.properties, record.id))
    else:
        record.properties = wanted.of(record.properties)
    return record


def type_properties(
    ids: list[str], geometries: list[bytes | None], properties: list[dict[str, Any]]
) -> pa.RecordBatch:
    """Return records as a batch with one typed column for each property that occurs."""
    return _batch(ids, geometries, typed_columns(properties))


def typed_columns(properties: list[dict[str, Any]]) -> dict[str, pa.Array]:
    """Return a typed column for each name that occurs, in the order of first occurrence."""
    names = dict.fromkeys(chain.from_iterable(properties))
    return {name: column([record.get(name) for record in properties]) for name in names}


def pack_properties(
    ids: list[str], geometries: list[bytes | None], properties: list[dict[str, Any]]
) -> pa.RecordBatch:
    """Return records as a batch with all properties in one column of JSON text."""
    packed = pa.array([orjson.dumps(record).decode() for record in properties], pa.string())
    return _batch(ids, geometries, {"properties": packed})


def subscription_batch(
    ids: list[str], geometries: list[bytes | None], properties: list[dict[str, Any]]
) -> pa.RecordBatch:
    """Return subscriptions as a batch with the schema SUBSCRIPTIONS."""
    names = SUBSCRIPTIONS.names[2:]
    columns = {n: pa.array([record[n] for record in properties], pa.string()) for n in names}
    return _batch(ids, geometries, columns)


def _batch(
    ids: list[str], geometries: list[bytes | None], columns: dict[str, pa.Array]
) -> pa.RecordBatch:
    arrays = [pa.array(ids, pa.string()), pa.array(geometries, pa.binary()), *columns.values()]
    return pa.RecordBatch.from_arrays(arrays, names=["id", "geometry", *columns])
