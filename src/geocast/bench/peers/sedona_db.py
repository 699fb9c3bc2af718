"""SedonaDB: a spatial join for each predicate, in one partition."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from importlib.util import find_spec

import numpy as np
import pyarrow as pa
import shapely
from numpy.typing import NDArray

from geocast.bench.peers.base import Pairs, Peer

__all__ = ["SedonaDb"]

_LIBRARY = "sedona.spatial_join.spatial_library"
_AREAL = (shapely.GeometryType.POLYGON, shapely.GeometryType.MULTIPOLYGON)

_LOAD = """SELECT row, predicate, ST_GeomFromWKB(geometry) AS geometry FROM raw_areas"""
_MATCH = """SELECT events.row AS publication, areas.row AS subscription
FROM (SELECT row, ST_GeomFromWKB(geometry) AS geometry FROM raw_events) AS events
JOIN (SELECT row, geometry FROM areas WHERE predicate = '{predicate}') AS areas
ON ST_{predicate}(events.geometry, areas.geometry)"""


class SedonaDb(Peer):
    """The subscriptions lie decoded in memory; a batch is decoded and joined for each predicate.

    Of its geometry libraries (as of 0.5.0), tg is the default and fast, but gives wrong pairs for
    lines, and refuses containment for some collections. So it serves subscriptions that are
    areas until it refuses, which it does before rounds are timed; for the rest there is geo. The
    third, geos, gives wrong pairs even for areas.
    """

    name = "SedonaDB"

    @classmethod
    def reason_missing(cls) -> str | None:
        """Say so where the package is not installed."""
        return None if find_spec("sedonadb") else "the package sedonadb is not installed"

    def __init__(self, subscriptions: pa.Table) -> None:
        with warnings.catch_warnings():
            # It warns of missing PROJ and GDAL, which matching does not need.
            warnings.simplefilter("ignore")
            import sedonadb

            self._context = sedonadb.connect()
            self._set("datafusion.execution.target_partitions", "1")
            self._set(_LIBRARY, "tg" if _areas_only(subscriptions) else "geo")
            self._predicates = sorted(set(subscriptions["predicate"].to_pylist()))
            self._view(subscriptions, "raw_areas")
            self._context.sql(_LOAD).to_memtable().to_view("areas", overwrite=True)

    def match(self, publications: pa.Table) -> Pairs:
        """Return all pairs."""
        self._view(publications, "raw_events")
        try:
            return Pairs.join(self._joined())
        except pa.ArrowException:
            self._set(_LIBRARY, "geo")
            return Pairs.join(self._joined())

    def _joined(self) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        for predicate in self._predicates:
            answer = pa.table(self._context.sql(_MATCH.format(predicate=predicate)))
            yield answer["publication"].to_numpy(), answer["subscription"].to_numpy()

    def _set(self, setting: str, value: str) -> None:
        self._context.sql(f"SET {setting} = '{value}'").execute()

    def _view(self, table: pa.Table, name: str) -> None:
        rows = pa.array(np.arange(table.num_rows), pa.int64())
        names = [column for column in ("predicate", "geometry") if column in table.column_names]
        frame = self._context.create_data_frame(table.select(names).append_column("row", rows))
        frame.to_view(name, overwrite=True)


def _areas_only(subscriptions: pa.Table) -> bool:
    kinds = shapely.get_type_id(shapely.from_wkb(subscriptions["geometry"].to_numpy()))
    return bool(np.isin(kinds, _AREAL).all())
