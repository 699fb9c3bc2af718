"""Features written in any format come back as they were."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import shapely
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from geocast.files import read, write_features
from geocast.files.columns import column
from tests.files.samples import SUFFIXES, geometries, records_of

_numbers = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
_columns: st.SearchStrategy[Any] = st.sampled_from(
    [
        st.booleans(),
        st.integers(-(2**63), 2**63 - 1),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(),
        st.lists(st.text(max_size=4), max_size=3),
        st.fixed_dictionaries({"u": st.none() | _numbers, "v": st.text(max_size=4)}),
    ]
)
_names = st.text(max_size=5).filter(lambda name: name not in ("id", "geometry"))


@st.composite
def _features(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Return features each of whose properties has one kind of value, or none."""
    kinds = draw(st.dictionaries(_names, _columns, max_size=4))
    ids = draw(st.lists(st.text(max_size=5), unique=True, max_size=6))
    return [
        {
            "id": name,
            "geometry": draw(geometries),
            **{key: draw(st.none() | kind) for key, kind in kinds.items()},
        }
        for name in ids
    ]


def _batch(records: list[dict[str, Any]]) -> pa.RecordBatch:
    shapes = [shapely.from_geojson(json.dumps(record["geometry"])) for record in records]
    columns = {name: column([r[name] for r in records]) for name in (records[0] if records else {})}
    columns["id"] = pa.array([record["id"] for record in records], pa.string())
    columns["geometry"] = pa.array([shapely.to_wkb(s, byte_order=1) for s in shapes], pa.binary())
    return pa.record_batch(columns)


@pytest.mark.parametrize("suffix", SUFFIXES)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(_features(), st.integers(1, 4))
def test_what_is_written_is_read(
    suffix: str, tmp_path: Path, records: list[dict[str, Any]], size: int
) -> None:
    path = tmp_path / f"f{suffix}"
    batch = _batch(records)
    pieces = [batch.slice(start, size) for start in range(0, len(batch), size)]
    assert write_features(path, pieces) == len(records)
    found = records_of(path)
    assert [sorted(record) for record in found] == [sorted(r) for r in batch.to_pylist()]
    assert found == batch.to_pylist()


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_rows_and_ids_survive_the_way_through_all_formats(suffix: str, tmp_path: Path) -> None:
    batch = pa.record_batch(
        {
            "id": [str(i) for i in range(100)],
            "geometry": [shapely.to_wkb(shapely.Point(i, i / 7)) for i in range(100)],
            "n": list(range(100)),
        }
    )
    first, second = tmp_path / f"a{suffix}", tmp_path / "b.geojson"
    write_features(first, [batch])
    write_features(second, (chunk.batch for chunk in read(first, "publications", batch_rows=7)))
    assert records_of(second) == batch.to_pylist()
