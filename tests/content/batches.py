"""Batches for tests, from plain Python values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

__all__ = ["batch_of", "mixed"]


def mixed(values: Sequence[Any]) -> pa.Array:
    """Return values of several types as a dense union, as readers of JSON deliver them."""
    kinds: dict[type, list[Any]] = {}
    codes, offsets = [], []
    for value in values:
        children = kinds.setdefault(type(value), [])
        codes.append(list(kinds).index(type(value)))
        offsets.append(len(children))
        children.append(value)
    return pa.UnionArray.from_dense(
        pa.array(codes, pa.int8()),
        pa.array(offsets, pa.int32()),
        [pa.array(c) for c in kinds.values()],
    )


def batch_of(columns: Mapping[str, Any]) -> pa.RecordBatch:
    """Return a batch; lists become columns of the type that Arrow infers."""
    known = (pa.Array, np.ndarray)
    arrays = [c if isinstance(c, known) else pa.array(c) for c in columns.values()]
    return pa.record_batch(arrays, names=list(columns))
