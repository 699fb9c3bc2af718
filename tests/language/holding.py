"""Which rows fulfil a normal form."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import shapely
from numpy.typing import NDArray

from geocast.language import Filter, NormalForm, SpatialConstraint
from geocast.match.content import evaluate

__all__ = ["fulfilled"]


def fulfilled(form: NormalForm, batch: pa.RecordBatch, geometries: Any) -> NDArray[np.bool_]:
    """Return, for each row, whether a filter of the form holds."""
    holds = np.zeros(batch.num_rows, np.bool_)
    for item in form.filters:
        holds |= _filter(item, batch, geometries)
    return holds


def _filter(item: Filter, batch: pa.RecordBatch, geometries: Any) -> NDArray[np.bool_]:
    holds = np.ones(batch.num_rows, np.bool_)
    for spatial in item.spatial:
        holds &= _spatial(spatial, geometries)
    for constraint in item.attributes:
        holds &= np.asarray(evaluate(constraint, batch).fill_null(False))
    return holds


def _spatial(constraint: SpatialConstraint, geometries: Any) -> NDArray[np.bool_]:
    name = constraint.predicate.label.replace("coveredby", "covered_by")
    found = getattr(shapely, name)(geometries, shapely.from_wkb(constraint.geometry))
    return np.asarray(found != constraint.negated)
