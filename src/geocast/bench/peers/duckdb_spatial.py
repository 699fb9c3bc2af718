"""DuckDB with its spatial extension: a spatial join for each predicate.

DuckDB fetches extensions from the network; the PyPI package duckdb-extension-spatial carries
the official signed one, for the version of DuckDB that it depends on.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geocast.bench.peers.base import Pairs, Peer

__all__ = ["DuckDbSpatial"]

_LOAD = """CREATE TABLE areas AS
SELECT row, predicate, ST_GeomFromWKB(geometry) AS geometry FROM subscriptions"""
_DECODE = """CREATE OR REPLACE TEMP TABLE events AS
SELECT row, ST_GeomFromWKB(geometry) AS geometry FROM publications"""
_MATCH = """SELECT events.row AS publication, areas.row AS subscription FROM events
JOIN (SELECT * FROM areas WHERE predicate = '{predicate}') AS areas
ON ST_{predicate}(events.geometry, areas.geometry)"""


class DuckDbSpatial(Peer):
    """The subscriptions lie in a table of geometries; a batch is decoded and joined to it."""

    name = "DuckDB spatial"

    @classmethod
    def reason_missing(cls) -> str | None:
        """Say that the extension is missing where it is neither carried nor installed."""
        if find_spec("duckdb") is None:
            return "the package duckdb is not installed"
        connection, reason = _connect()
        connection.close()
        return reason

    def __init__(self, subscriptions: pa.Table) -> None:
        self._connection, _ = _connect()
        self._predicates = sorted(set(subscriptions["predicate"].to_pylist()))
        self._connection.register("subscriptions", _numbered(subscriptions))
        self._connection.execute(_LOAD)
        self._connection.unregister("subscriptions")

    def match(self, publications: pa.Table) -> Pairs:
        """Return all pairs."""
        self._connection.register("publications", _numbered(publications))
        self._connection.execute(_DECODE)
        return Pairs.join(self._joined())

    def close(self) -> None:
        """Close the database."""
        self._connection.close()

    def _joined(self) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        for predicate in self._predicates:
            answer = self._connection.execute(_MATCH.format(predicate=predicate)).fetchnumpy()
            yield answer["publication"], answer["subscription"]


def _connect() -> tuple[Any, str | None]:
    """Return a connection of one thread, and why it lacks the extension or None."""
    import duckdb

    connection = duckdb.connect(config={"threads": 1})
    try:
        connection.load_extension(_carried() or "spatial")
    except duckdb.Error:
        advice = "install the package duckdb-extension-spatial"
        return connection, f"no spatial extension for DuckDB {duckdb.__version__}: {advice}"
    return connection, None


def _carried() -> str | None:
    spec = find_spec("duckdb_extension_spatial")
    if spec is None or spec.origin is None:
        return None
    files = Path(spec.origin).parent.rglob("spatial.duckdb_extension")
    return next((str(file) for file in files), None)


def _numbered(table: pa.Table) -> pa.Table:
    rows = pa.array(np.arange(table.num_rows), pa.int64())
    names = [name for name in ("predicate", "geometry") if name in table.column_names]
    return table.select(names).append_column("row", rows)
