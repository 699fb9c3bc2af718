from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from geocast.files import wkb
from geocast.files.wkb import check_wkb
from tests.files.samples import GEOMETRIES, geometries, point_wkb

_SHAPES = [
    shapely.from_geojson(json.dumps({"type": name, "coordinates": c}))
    for name, c in GEOMETRIES.items()
]
_CLEAN = [shapely.to_wkb(shape, byte_order=1) for shape in _SHAPES]


def _column(values: list[bytes | None]) -> pa.Array:
    return pa.array(values, pa.binary())


def test_clean_geometries_and_nulls_pass_unchanged() -> None:
    column = _column([*_CLEAN, None])
    checked = check_wkb(column)
    assert checked.column.equals(column)
    assert checked.bad == {}


@pytest.mark.parametrize("clean", _CLEAN, ids=list(GEOMETRIES))
def test_other_forms_of_wkb_become_flat_and_little_endian(clean: bytes) -> None:
    shape = shapely.from_wkb(clean)
    high = shapely.force_3d(shape, 9)
    forms = [
        shapely.to_wkb(shape, byte_order=0),
        shapely.to_wkb(high, flavor="iso", output_dimension=3),
        shapely.to_wkb(high, flavor="extended", output_dimension=3),
        shapely.to_wkb(shapely.set_srid(shape, 4326), include_srid=True),
    ]
    assert clean not in forms
    checked = check_wkb(_column([clean, *forms]))
    assert checked.column.to_pylist() == [clean] * 5
    assert checked.bad == {}


@pytest.mark.parametrize("clean", _CLEAN, ids=list(GEOMETRIES))
def test_every_cut_is_bad_and_spoils_no_neighbour(clean: bytes) -> None:
    cuts = [clean[:size] for size in range(len(clean))]
    checked = check_wkb(_column([clean, *cuts, clean]))
    assert checked.column.to_pylist() == [clean, *[None] * len(cuts), clean]
    assert set(checked.bad) == set(range(1, len(cuts) + 1))
    assert all(reason.startswith("the geometry is not WKB") for reason in checked.bad.values())


@pytest.mark.parametrize("data", [b"POINT (1 2)", b"\x01\x63\x00\x00\x00" + bytes(16), b"\x02"])
def test_other_bytes_are_bad(data: bytes) -> None:
    checked = check_wkb(_column([data]))
    assert checked.column.to_pylist() == [None]
    assert "\n" not in checked.bad[0]


def test_a_count_beyond_all_bounds_is_bad() -> None:
    for kind in range(2, 8):
        data = bytes([1, kind, 0, 0, 0]) + b"\xff" * 8
        assert list(check_wkb(_column([data])).bad) == [0]


def test_a_slice_of_a_column_is_checked_by_its_own_values() -> None:
    column = _column([b"bad", *_CLEAN, b"bad", None]).slice(1, len(_CLEAN))
    checked = check_wkb(column)
    assert checked.column.to_pylist() == _CLEAN
    assert checked.bad == {}


def test_columns_without_values() -> None:
    assert len(check_wkb(_column([])).column) == 0
    assert check_wkb(_column([None])).column.to_pylist() == [None]
    assert list(check_wkb(_column([b""])).bad) == [0]


@given(st.lists(geometries, max_size=6), st.binary(max_size=30))
def test_one_bad_value_among_any_geometries(shapes: list[dict[str, Any]], junk: bytes) -> None:
    clean = [shapely.to_wkb(shapely.from_geojson(json.dumps(s)), byte_order=1) for s in shapes]
    checked = check_wkb(_column([*clean, b"\x09" + junk, point_wkb()]))
    assert checked.column.to_pylist() == [*clean, None, point_wkb()]
    assert list(checked.bad) == [len(clean)]


def test_usual_geometries_are_not_walked_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bytes] = []

    def walked(data: bytes) -> bool:
        asked.append(data)
        return True

    monkeypatch.setattr(wkb, "_is_clean", walked)
    holed = shapely.to_wkb(shapely.Point(0, 0).buffer(2) - shapely.Point(0, 0).buffer(1))
    check_wkb(_column([*_CLEAN, holed, None]))
    assert asked == []
