"""What is subscribed to and published: the thesis's workload, as texts for HTTP and Kafka."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
import shapely
from numpy.typing import NDArray

from geocast.bench.data import DataFolder
from geocast.bench.workload import RECIPES, Workload, make
from geocast.match.matcher import Matcher
from geocast.model import Rejects

__all__ = ["ACCOUNT", "KafkaScene", "draw_scene"]

ACCOUNT: Final = "bench"
"""Who subscribes, and in whose name is published."""


@dataclass(frozen=True, slots=True)
class KafkaScene:
    """A workload, its publications' geometries as GeoJSON, and how many matches each has.

    The first `warm` publications are for warming up.
    """

    workload: Workload
    warm: int
    geometries: list[bytes] = field(repr=False)
    matches: NDArray[np.int64] = field(repr=False)

    def subscriptions(self, topic: bool) -> Iterator[bytes]:
        """Yield the subscriptions as Features, notified by the account's topic if asked for."""
        table = self.workload.subscriptions
        geometries = shapely.to_geojson(shapely.from_wkb(table["geometry"].to_pylist()))
        names, predicates = (table[name].to_pylist() for name in ("id", "predicate"))
        for name, predicate, geometry in zip(names, predicates, geometries, strict=True):
            properties = {"predicate": predicate} | ({"topic": True} if topic else {})
            yield feature(name, geometry.encode(), orjson.dumps(properties))

    def record(self, name: str, row: int) -> tuple[bytes, bytes]:
        """Return key and value of a publication of that name, with the geometry of a row."""
        return f"{ACCOUNT}/{name}".encode(), feature(name, self.geometries[row], b'{"n":1}')


def feature(name: str, geometry: bytes, properties: bytes) -> bytes:
    """Return the text of a Feature; the name needs no escapes."""
    return b'{"type":"Feature","id":"%b","geometry":%b,"properties":%b}' % (
        name.encode(),
        geometry,
        properties,
    )


def draw_scene(
    folder: DataFolder, subscriptions: int, publications: int, warm: int, seed: int = 1
) -> KafkaScene:
    """Draw the workload, and let the core tell how often each publication matches."""
    total = publications + warm
    recipe = replace(RECIPES["thesis"], subs=subscriptions, pubs=total, seed=seed)
    workload = make(recipe, folder)
    texts = shapely.to_geojson(shapely.from_wkb(workload.publications["geometry"].to_pylist()))
    return KafkaScene(workload, warm, [text.encode() for text in texts], _counted(workload))


def _counted(workload: Workload) -> NDArray[np.int64]:
    """Return the number of matches of each publication."""
    answer = Matcher(workload.subscriptions).match(workload.publications, rejects=Rejects())
    rows = pc.index_in(answer["publication"], workload.publications["id"].combine_chunks())
    counts = np.zeros(workload.publications.num_rows, np.int64)
    lengths = pc.list_value_length(answer["subscriptions"]).to_numpy()
    counts[pa.chunked_array(rows).to_numpy()] = lengths
    return counts
