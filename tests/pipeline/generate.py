from __future__ import annotations

import numpy as np
import pyarrow as pa
import shapely

__all__ = ["as_dict", "publications", "subscriptions"]

PREDICATES = ["intersects", "within", "disjoint", "coveredby"]
FILTERS = [None, "mag >= 5", "kind = 'quake'", None, "mag < 2 OR kind = 'flood'"]


def publications(count: int = 400, seed: int = 1) -> pa.Table:
    random = np.random.default_rng(seed)
    x, y = random.uniform(-10, 10, (2, count))
    points = shapely.points(x, y)
    shapes = np.where(random.random(count) < 0.7, points, shapely.box(x, y, x + 0.5, y + 0.5))
    return pa.table(
        {
            "id": [f"p{number:05d}" for number in range(count)],
            "geometry": pa.array(shapely.to_wkb(shapes), pa.binary()),
            "mag": np.round(random.uniform(0, 9, count), 1),
            "kind": random.choice(["quake", "flood", "fire"], count),
            "unused": ["x" * 10] * count,
        }
    )


def subscriptions(count: int = 40, seed: int = 2) -> pa.Table:
    random = np.random.default_rng(seed)
    x, y = random.uniform(-10, 8, (2, count))
    areas = shapely.box(x, y, x + 3, y + 3)
    return pa.table(
        {
            "id": [f"s{number:03d}" for number in range(count)],
            "geometry": pa.array(shapely.to_wkb(areas), pa.binary()),
            "predicate": [PREDICATES[number % len(PREDICATES)] for number in range(count)],
            "filter": pa.array(
                [FILTERS[number % len(FILTERS)] for number in range(count)], pa.string()
            ),
        }
    )


def as_dict(matches: pa.Table) -> dict[str, list[str]]:
    rows = matches.to_pylist()
    found = {row["publication"]: row["subscriptions"] for row in rows}
    assert len(found) == len(rows), "a publication is in more than one row"
    return found
