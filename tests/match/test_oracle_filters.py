from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely

import geocast
import geocast.model
from geocast.model import Rejects
from tests import oracle
from tests.expressions import STEP, expression, feature_table
from tests.lattice import lattice_geometries
from tests.match.comparison import INDEX_NAMES
from tests.match.real_data import shipped

DATA = Path(geocast.model.__file__).parents[1] / "data"


def found(matches: pa.Table) -> dict[str, list[str]]:
    return {row["publication"]: row["subscriptions"] for row in matches.to_pylist()}


def assert_as_the_oracle(
    subscriptions: pa.Table, publications: pa.Table, index: str = "cells"
) -> None:
    matcher = geocast.Matcher(subscriptions, index=index)
    assert [str(reject) for reject in matcher.rejects] == []
    rejects = Rejects()
    has = found(matcher.match(publications, rejects=rejects))
    assert list(rejects) == []
    should = oracle.match(subscriptions, publications)
    texts = dict(
        zip(subscriptions["id"].to_pylist(), subscriptions["filter"].to_pylist(), strict=True)
    )
    features = {row["id"]: row for row in oracle_features(publications)}
    differences = [
        (name, features[name], texts[sub], "missing" if sub in should.get(name, []) else "wrong")
        for name in features
        for sub in set(has.get(name, [])) ^ set(should.get(name, []))
    ]
    assert not differences, f"{len(differences)} differ, the first: {differences[0]}"
    assert has == should


def oracle_features(publications: pa.Table) -> list[dict[str, Any]]:
    rows = publications.to_pylist()
    return [{**row, "geometry": shapely.from_wkb(row["geometry"]).wkt} for row in rows]


@pytest.mark.parametrize("seed", range(8))
def test_whole_expressions(seed: int) -> None:
    rng = np.random.default_rng([1, seed])
    texts = [expression(rng) for _ in range(250)]
    subscriptions = pa.table({"id": [f"s{k}" for k in range(len(texts))], "filter": texts})
    assert_as_the_oracle(subscriptions, feature_table(rng, 60))


@pytest.mark.parametrize("index", INDEX_NAMES)
def test_an_area_with_a_filter_or_an_expression_alone(index: str) -> None:
    rng = np.random.default_rng(2)
    n = 250
    areas = shapely.to_wkb(lattice_geometries(rng, n, STEP, span=6)).tolist()
    texts = [expression(rng, 2) if rng.random() < 0.7 else None for _ in range(n)]
    geometries = [
        a if t is None or rng.random() < 0.6 else None for a, t in zip(areas, texts, strict=True)
    ]
    columns = {
        "id": [f"s{k}" for k in range(n)],
        "subscriber": ["anyone"] * n,
        "geometry": geometries,
        "predicate": [
            None if g is None or rng.random() < 0.2 else str(rng.choice(list(oracle.PREDICATES)))
            for g in geometries
        ],
        "filter": texts,
    }
    assert_as_the_oracle(pa.table(columns), feature_table(rng, 60), index)


SPATIAL = (
    "S_INTERSECTS(geometry, BBOX(0, 0, 1, 1)) AND S_INTERSECTS(geometry, BBOX(0.5, 0.5, 2, 2))",
    "S_INTERSECTS(geometry, BBOX(0, 0, 1, 1)) AND NOT S_WITHIN(geometry, BBOX(0, 0, 1, 1))",
    "NOT S_TOUCHES(geometry, BBOX(0, 0, 1, 1)) AND NOT S_WITHIN(geometry, BBOX(1, 1, 2, 2))",
    "NOT S_DISJOINT(geometry, BBOX(0, 0, 1, 1))",
    "NOT S_INTERSECTS(geometry, BBOX(0, 0, 1, 1))",
    "S_DISJOINT(geometry, BBOX(0, 0, 1, 1)) AND S_DISJOINT(geometry, BBOX(1, 1, 2, 2))",
    "S_DISJOINT(geometry, BBOX(0, 0, 1, 1)) OR n > 2",
    "S_WITHIN(geometry, BBOX(0, 0, 1, 1)) OR S_WITHIN(geometry, BBOX(0, 0, 1, 1))",
    "NOT (S_WITHIN(geometry, BBOX(0, 0, 1, 1)) OR n > 0)",
    "NOT (S_CROSSES(geometry, LINESTRING(0 0, 1 1)) AND n > 0)",
    "S_EQUALS(geometry, geometry)",
    "S_TOUCHES(geometry, geometry)",
    "S_INTERSECTS(POINT(0 0), BBOX(0, 0, 1, 1)) AND n > 0",
    "S_CONTAINS(BBOX(0, 0, 1, 1), geometry)",
    "n > 0 OR NOT n > 0",
    "TRUE",
    "FALSE",
    "n > 0 AND NOT n > 0",
)


@pytest.mark.parametrize("index", INDEX_NAMES)
def test_several_negated_and_disjoint_constraints(index: str) -> None:
    rng = np.random.default_rng(3)
    ids = [f"s{k}" for k in range(len(SPATIAL))]
    subscriptions = pa.table({"id": ids, "filter": list(SPATIAL)})
    assert_as_the_oracle(subscriptions, feature_table(rng, 200), index)


EARTHQUAKES = (
    "mag >= 4.5",
    "mag BETWEEN 2 AND 3 AND depth < 10",
    "CASEI(place) LIKE CASEI('%ALASKA%')",
    "type <> 'earthquake'",
    "time >= TIMESTAMP('2015-08-15T00:00:00Z')",
    "T_DURING(INTERVAL(time, '2015-08-20T00:00:00Z'), INTERVAL('2015-08-01T00:00:00Z', '..'))",
    "network IN ('us', 'ak') OR mag IS NULL",
    "depth / mag > 20",
    "NOT (mag < 1)",
)


def test_earthquakes_in_countries_and_states() -> None:
    rng = np.random.default_rng(4)
    earthquakes = pq.read_table(DATA / "earthquakes.parquet")
    publications = earthquakes.take(pa.array(rng.permutation(len(earthquakes))[:500]))
    areas = np.concatenate(
        [shipped("countries"), shipped("us_states"), shipped("us_counties")[::20]]
    )
    names = ("intersects", "within", "disjoint", "touches", "coveredby")
    subscriptions = pa.table(
        {
            "id": [f"s{k}" for k in range(len(areas))],
            "geometry": pa.array(shapely.to_wkb(areas), pa.binary()),
            "predicate": [
                str(name) for name in rng.choice(names, len(areas), p=(0.4, 0.3, 0.1, 0.1, 0.1))
            ],
            "filter": [str(text) for text in rng.choice(EARTHQUAKES, len(areas))],
        }
    )
    assert_as_the_oracle(subscriptions, publications)
