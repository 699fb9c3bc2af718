"""The steps of an algorithm one after another in this process, as Spark runs them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pyarrow as pa

from geocast.files import Chunk
from geocast.match.matcher import Matcher
from geocast.model import Reject
from geocast.pipeline.base import Answered
from geocast.pipeline.parcel import Partial, packed
from geocast.pipeline.partitioned import Partitioned
from geocast.pipeline.routing import parcels
from geocast.pipeline.shipment import Shipment
from geocast.pipeline.variants import INDEX_CODES, parse_name, variant_names

__all__ = ["PARTITIONED", "REPLICATED", "find"]

PARTITIONED = [name for name in variant_names() if parse_name(name).family != "RIS"]
REPLICATED = ["RIS", *(name for name in variant_names() if parse_name(name).family == "RIS")]
_TASKS = 2


def find(
    name: str,
    subscriptions: pa.Table,
    publications: pa.Table,
    *,
    cells: int = 20,
    merge: bool = False,
    sources: int = 2,
    unreadable: tuple[Reject, ...] = (),
) -> list[Answered]:
    """Match, and return the answer to each source."""
    if name in REPLICATED:
        return _replicated(name, subscriptions, publications, sources)
    algorithm = Partitioned(subscriptions, parse_name(name), cells, merge=merge)
    holdings, worker, gatherer = algorithm.steps(Shipment(name, str(algorithm.folder)))
    sent: list[list[pa.RecordBatch]] = [[] for _ in range(_TASKS)]
    for source, (first, batch) in enumerate(_sources(publications, sources)):
        rows = np.arange(first, first + batch.num_rows)
        chunk = Chunk(batch, rows, unreadable if source == 0 else ())
        for task, parcel in parcels(chunk, holdings, _TASKS):
            sent[task].append(packed(task, source, parcel.pack()))
    found = [partial for batches in sent for partial in worker.partials(batches)]
    return list(gatherer.whole((s, Partial.unpack(partial.pack())) for s, partial in found))


def _replicated(
    name: str, subscriptions: pa.Table, publications: pa.Table, sources: int
) -> list[Answered]:
    index = parse_name(name).index
    matcher = Matcher(subscriptions, index=INDEX_CODES[index] if index else "cells")
    batches = [batch for _, batch in _sources(publications, sources)]
    return [Answered(batch.num_rows, matcher.answer(batch).matches, ()) for batch in batches]


def _sources(publications: pa.Table, count: int) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Yield the publications in so many parts, each with the number of its first row."""
    edges = np.linspace(0, publications.num_rows, count + 1).astype(int).tolist()
    for first, last in pairwise(edges):
        yield first, publications.slice(first, last - first).combine_chunks().to_batches()[0]
