"""The steps of a partitioned algorithm one after another in this process, as Spark runs them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa

from geocast.files import Chunk
from geocast.model import Reject
from geocast.pipeline.base import Answered
from geocast.pipeline.parcel import Partial, packed
from geocast.pipeline.partitioned import Partitioned
from geocast.pipeline.routing import parcels
from geocast.pipeline.shipment import Shipment
from geocast.pipeline.variants import parse_name, variant_names

__all__ = ["PARTITIONED", "find"]

PARTITIONED = [name for name in variant_names() if parse_name(name).family != "RIS"]
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
    algorithm = Partitioned(subscriptions, parse_name(name), cells, merge=merge)
    holdings, worker, gatherer = algorithm.steps(Shipment(name, str(algorithm.folder)))
    sent: list[list[pa.RecordBatch]] = [[] for _ in range(_TASKS)]
    edges = np.linspace(0, publications.num_rows, sources + 1).astype(int).tolist()
    for source, (first, last) in enumerate(pairwise(edges)):
        batch = publications.slice(first, last - first).combine_chunks().to_batches()[0]
        chunk = Chunk(batch, np.arange(first, last), unreadable if source == 0 else ())
        for task, parcel in parcels(chunk, holdings, _TASKS):
            sent[task].append(packed(task, source, parcel.pack()))
    found = [partial for batches in sent for partial in worker.partials(batches)]
    return list(gatherer.whole((s, Partial.unpack(partial.pack())) for s, partial in found))
