"""Other engines that answer the same question, for comparison in the same run.

Each peer is one file, and one line in `PEERS`.
"""

from __future__ import annotations

from geocast.bench.peers.base import Pairs, Peer
from geocast.bench.peers.duckdb_spatial import DuckDbSpatial
from geocast.bench.peers.jts import Jts
from geocast.bench.peers.sedona_db import SedonaDb
from geocast.bench.peers.shapely_plain import ShapelyPlain
from geocast.bench.peers.shapely_prepared import ShapelyPrepared

__all__ = ["PEERS", "Pairs", "Peer"]

PEERS: dict[str, type[Peer]] = {
    peer.name: peer for peer in (ShapelyPlain, ShapelyPrepared, DuckDbSpatial, SedonaDb, Jts)
}
"""Every peer by name; shapely's plain predicates come first, as all are measured by them."""
