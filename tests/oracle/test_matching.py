from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import shapely

from tests import oracle

SQUARE = shapely.box(0, 0, 2, 2)


def test_publications_are_matched_with_sorted_subscriptions() -> None:
    subscriptions = [
        {"id": "z", "geometry": SQUARE},
        {"id": "a", "geometry": SQUARE, "predicate": "WITHIN"},
        {"id": "far", "geometry": SQUARE, "predicate": "disjoint"},
        {"id": "strong", "geometry": SQUARE, "filter": "mag >= 5"},
        {"id": "text", "filter": "S_TOUCHES(geometry, BBOX(0, 0, 2, 2)) OR mag IS NULL"},
    ]
    publications = [
        {"id": "inside", "geometry": shapely.Point(1, 1), "mag": 5},
        {"id": "edge", "geometry": shapely.Point(0, 1), "mag": 1},
        {"id": "outside", "geometry": shapely.Point(9, 9), "mag": None},
    ]
    assert oracle.match(subscriptions, publications) == {
        "inside": ["a", "strong", "z"],
        "edge": ["text", "z"],
        "outside": ["far", "text"],
    }


def test_a_publication_without_matches_is_absent() -> None:
    publications = [{"id": "p", "geometry": shapely.Point(9, 9)}]
    assert oracle.match([{"id": "s", "geometry": SQUARE}], publications) == {}


def test_tables_with_wkb_are_understood() -> None:
    subscriptions = pa.table({"id": ["s", "t"], "geometry": [SQUARE.wkb, None]})
    subscriptions = subscriptions.append_column("filter", pa.array([None, "n > 1"]))
    points = [shapely.Point(1, 1), shapely.Point(3, 3)]
    publications = pa.table(
        {"id": ["p", "q"], "geometry": [point.wkb for point in points], "n": [1, 2]}
    )
    assert oracle.match(subscriptions, publications) == {"p": ["s"], "q": ["t"]}


def test_the_oracle_shares_no_code_with_the_product() -> None:
    for source in Path(oracle.__file__).parent.glob("*.py"):
        if not source.name.startswith("test_"):
            text = source.read_text()
            assert "import geocast" not in text
            assert "from geocast" not in text
            assert "cql2 import" not in text
            assert "import cql2" not in text
