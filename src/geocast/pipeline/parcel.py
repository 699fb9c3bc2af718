"""What travels between the steps of a partitioned algorithm, packed into bytes.

Spark sees a few numbers and the packed Arrow data: publications are not turned into rows on their
way, whatever columns they have, and a geometry that occurs many times in a parcel is sent once.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from geocast.match.index.base import Candidates
from geocast.match.partition.adapt import Load
from geocast.model import Reject

__all__ = ["PACKED", "Parcel", "Partial", "join_parcels", "packed", "unpack_partials"]

PACKED: Final = "task int, source int, content binary"
"""The Spark schema of parcels and partial answers: for which task, and whose publications."""

_PACKED: Final = pa.schema([("task", pa.int32()), ("source", pa.int32()), ("content", pa.binary())])
_LONG_GEOMETRY: Final = 128


@dataclass(frozen=True, eq=False)
class Parcel:
    """Publications of one source on their way to the task that works on some partitions.

    `size` are the bytes of the publications when unpacked, `row` their rows in the source.
    Publication at[k] is for target[k]; home[k] says whether it
    is accounted for there. `among` are the geometries that it may meet there, where it was looked
    up. `refused` are records of the source that are no publications.
    """

    publications: pa.RecordBatch
    size: int
    row: NDArray[np.int64]
    target: NDArray[np.int64]
    at: NDArray[np.int64]
    home: NDArray[np.bool_]
    among: Candidates
    refused: tuple[Reject, ...] = ()

    def pack(self) -> bytes:
        """Return everything as bytes."""
        routes = (self.target, self.at, self.home, self.among)
        rest = (self.size, self.row, *routes, self.refused)
        return pickle.dumps((_to_ipc(_slim(self.publications)), *rest), protocol=5)

    @classmethod
    def unpack(cls, content: bytes) -> Parcel:
        """Return what `pack` packed."""
        publications, *rest = pickle.loads(content)
        return cls(_from_ipc(publications), *rest)


def join_parcels(
    parcels: Sequence[tuple[int, Parcel]],
) -> Iterator[tuple[NDArray[np.int32], Parcel]]:
    """Yield parcels as few large ones, with the source of each publication.

    What they refuse is left out.
    """
    by_schema: dict[str, list[tuple[int, Parcel]]] = {}
    for source, parcel in parcels:
        by_schema.setdefault(parcel.publications.schema.to_string(), []).append((source, parcel))
    for alike in by_schema.values():
        own = [parcel for _, parcel in alike]
        sizes = [len(parcel.row) for parcel in own]
        sources = np.repeat(np.array([source for source, _ in alike], np.int32), sizes)
        yield sources, _joined(own, np.cumsum([0, *sizes]))


def _joined(parcels: Sequence[Parcel], starts: NDArray[np.int64]) -> Parcel:
    counts = np.concatenate([np.diff(parcel.among[0]) for parcel in parcels])
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    among = offsets, np.concatenate([parcel.among[1] for parcel in parcels])
    return Parcel(
        pa.concat_batches([parcel.publications for parcel in parcels]),
        sum(parcel.size for parcel in parcels),
        np.concatenate([parcel.row for parcel in parcels]),
        np.concatenate([parcel.target for parcel in parcels]),
        np.concatenate([parcel.at + start for parcel, start in zip(parcels, starts, strict=False)]),
        np.concatenate([parcel.home for parcel in parcels]),
        among,
    )


@dataclass(frozen=True, eq=False)
class Partial:
    """What one partition found for the publications of one source.

    Publication row[k], called ids[k], matches length[k] of the subscriptions `number`, one list
    after another. `accounted` are the rows of all that are accounted for here, matched, unmatched
    or `refused`. `loads` are targets and what they had to do for this answer, and maybe for others.
    """

    accounted: NDArray[np.int64]
    row: NDArray[np.int64]
    length: NDArray[np.int64]
    number: NDArray[Any]
    ids: pa.StringArray
    refused: tuple[Reject, ...] = ()
    loads: tuple[tuple[int, Load], ...] = ()

    def pack(self) -> bytes:
        """Return everything as bytes."""
        names = _to_ipc(pa.record_batch([self.ids], names=["id"]))
        numbers = (self.accounted, self.row, self.length, self.number)
        return pickle.dumps((*numbers, names, self.refused, self.loads), protocol=5)

    @classmethod
    def unpack(cls, content: bytes) -> Partial:
        """Return what `pack` packed."""
        accounted, row, length, number, names, refused, loads = pickle.loads(content)
        return cls(accounted, row, length, number, _from_ipc(names).column("id"), refused, loads)


def packed(task: int, source: int, content: bytes) -> pa.RecordBatch:
    """Return one row of PACKED as a batch of its own, since it is large."""
    numbers = [pa.array([value], pa.int32()) for value in (task, source)]
    return pa.RecordBatch.from_arrays([*numbers, pa.array([content], pa.binary())], schema=_PACKED)


def unpack_partials(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, Partial]]:
    """Yield partial answers and their sources from rows of PACKED."""
    for batch in batches:
        for row in batch.to_pylist():
            yield row["source"], Partial.unpack(row["content"])


def _slim(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Send long geometries that repeat only once."""
    place = batch.schema.get_field_index("geometry")
    column = batch.column(place)
    if not batch.num_rows or column.nbytes < _LONG_GEOMETRY * batch.num_rows:
        return batch
    if isinstance(column, pa.ExtensionArray) or pa.types.is_dictionary(column.type):
        return batch
    encoded = pc.dictionary_encode(column)
    return batch.set_column(place, "geometry", encoded)


def _to_ipc(batch: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _from_ipc(content: bytes) -> pa.RecordBatch:
    [batch] = pa.ipc.open_stream(content)
    return batch
