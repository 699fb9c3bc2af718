"""The same geometries however their WKB is written, and however often they occur."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import shapely

import geocast
from tests.lattice import lattice_geometries
from tests.match.comparison import found_pairs, publication_table, subscription_table
from tests.oracle import PREDICATES, pairs_by_predicate
from tests.oracle.spatial import Geometries, Pairs

Encoder = Callable[[Geometries], list[bytes]]


def raised(geometries: Geometries) -> Geometries:
    rng = np.random.default_rng(1)
    xy, of = shapely.get_coordinates(geometries, return_index=True)
    height = rng.uniform(-100, 100, len(geometries))[of]
    flat = shapely.force_3d(geometries)
    return np.asarray(shapely.set_coordinates(flat, np.column_stack([xy, height])))


def each_another_way(geometries: Geometries) -> list[bytes]:
    ways = list(ENCODERS.values())[:-1]
    return [ways[k % len(ways)](geometries[k : k + 1])[0] for k in range(len(geometries))]


ENCODERS: dict[str, Encoder] = {
    "little-endian": lambda g: list(shapely.to_wkb(g, byte_order=1)),
    "big-endian": lambda g: list(shapely.to_wkb(g, byte_order=0)),
    "EWKB with SRID": lambda g: list(
        shapely.to_wkb(shapely.set_srid(g, 4326), include_srid=True, flavor="extended")
    ),
    "big-endian EWKB with SRID": lambda g: list(
        shapely.to_wkb(
            shapely.set_srid(g, 4326), include_srid=True, flavor="extended", byte_order=0
        )
    ),
    "ISO with Z": lambda g: list(shapely.to_wkb(raised(g), output_dimension=3, flavor="iso")),
    "EWKB with Z": lambda g: list(shapely.to_wkb(raised(g), output_dimension=3, flavor="extended")),
    "EWKB with Z and SRID, big-endian": lambda g: list(
        shapely.to_wkb(
            shapely.set_srid(raised(g), 4326),
            output_dimension=3,
            include_srid=True,
            flavor="extended",
            byte_order=0,
        )
    ),
    "each in another way": each_another_way,
}
NAMES = tuple(PREDICATES)


@pytest.fixture(scope="module")
def scene() -> tuple[Geometries, Geometries, list[str], set[tuple[int, int]]]:
    rng = np.random.default_rng(21)
    publications = lattice_geometries(rng, 80, 0.25, span=5)
    areas = lattice_geometries(rng, 120, 0.25, span=5)
    predicates = [str(name) for name in rng.choice(NAMES, len(areas))]
    held = pairs_by_predicate(publications, areas)
    expected = {
        pair for name in NAMES for pair in as_set(held[name]) if predicates[pair[1]] == name
    }
    return publications, areas, predicates, expected


def as_set(pairs: Pairs) -> set[tuple[int, int]]:
    return set(zip(pairs[0].tolist(), pairs[1].tolist(), strict=True))


def with_geometry(table: pa.Table, column: Any) -> pa.Table:
    return table.set_column(table.schema.get_field_index("geometry"), "geometry", column)


@pytest.mark.parametrize("theirs", ENCODERS)
@pytest.mark.parametrize("ours", ["little-endian", "each in another way"])
def test_every_way_to_write_wkb(scene: Any, ours: str, theirs: str) -> None:
    publications, areas, predicates, expected = scene
    subscriptions = subscription_table(areas, predicates)
    subscriptions = with_geometry(subscriptions, pa.array(ENCODERS[ours](areas), pa.binary()))
    events = publication_table(publications)
    events = with_geometry(events, pa.array(ENCODERS[theirs](publications), pa.binary()))
    matcher = geocast.Matcher(subscriptions)
    assert list(matcher.rejects) == []
    assert as_set(found_pairs(matcher.match(events))) == expected


@pytest.mark.parametrize("kind", [pa.large_binary(), pa.binary_view()], ids=str)
def test_other_binary_columns(scene: Any, kind: pa.DataType) -> None:
    publications, areas, predicates, expected = scene
    subscriptions = subscription_table(areas, predicates)
    subscriptions = with_geometry(subscriptions, subscriptions["geometry"].cast(kind))
    events = publication_table(publications)
    events = with_geometry(events, events["geometry"].cast(kind))
    assert as_set(found_pairs(geocast.match(subscriptions, events))) == expected


def test_a_dictionary_of_geometries(scene: Any) -> None:
    publications, areas, predicates, expected = scene
    subscriptions = subscription_table(areas, predicates)
    events = publication_table(publications)
    events = with_geometry(events, events["geometry"].combine_chunks().dictionary_encode())
    assert as_set(found_pairs(geocast.match(subscriptions, events))) == expected


def test_geometries_that_occur_many_times(scene: Any) -> None:
    publications, areas, predicates, expected = scene
    rng = np.random.default_rng(5)
    rows, columns = rng.integers(0, len(publications), 300), rng.integers(0, len(areas), 300)
    subscriptions = subscription_table(areas[columns], [predicates[c] for c in columns])
    events = publication_table(publications[rows])
    wanted = {
        (i, j)
        for i, row in enumerate(rows.tolist())
        for j, column in enumerate(columns.tolist())
        if (row, column) in expected
    }
    assert as_set(found_pairs(geocast.match(subscriptions, events))) == wanted
