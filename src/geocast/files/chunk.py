"""What a reader hands out: a batch of good records, where they stood, and the bad ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geocast.model import Reject

__all__ = ["SUBSCRIPTIONS", "Chunk"]

SUBSCRIPTIONS = pa.schema(
    [
        pa.field("id", pa.string()),
        pa.field("geometry", pa.binary()),
        pa.field("subscriber", pa.string()),
        pa.field("predicate", pa.string()),
        pa.field("filter", pa.string()),
    ]
)
"""The schema of every batch that is read as subscriptions, whatever the file looks like."""


@dataclass(frozen=True)
class Chunk:
    """One piece of an input, in the order of the input.

    `batch` has the columns `id` (string), `geometry` (binary: 2-D little-endian WKB), then
    the properties. `rows[i]` is the 0-based place of the batch's row i in the input (feature,
    line or row number). `rejects` are the bad records met since the previous chunk; a chunk
    may have rejects and no rows. `position` is how far the input has been read, in bytes out
    of `input_size(path)`: exact for GeoJSON, in proportion to the rows for Parquet.
    """

    batch: pa.RecordBatch
    rows: NDArray[np.int64]
    rejects: tuple[Reject, ...]
    position: int = 0
