from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from geocast.errors import InputError
from geocast.files import read_packed, unpack
from tests.files.samples import JSON_SUFFIXES, feature, only, point_wkb, write_json, write_parquet

_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=4,
)
_names = st.sampled_from(["a", "b", "c.d", "\u00e9"])


@pytest.mark.parametrize("suffix", JSON_SUFFIXES)
def test_packed_batches_have_one_column_of_properties(suffix: str, tmp_path: Path) -> None:
    path = write_json(tmp_path / f"f{suffix}", [feature("a", x=1), 7, feature("b", y=[1, "u"])])
    (chunk,) = read_packed(path)
    assert chunk.batch.to_pylist() == [
        {"id": "a", "geometry": point_wkb(), "properties": '{"x":1}'},
        {"id": "b", "geometry": point_wkb(), "properties": '{"y":[1,"u"]}'},
    ]
    assert chunk.batch.schema.field("properties").type == pa.string()
    assert chunk.rows.tolist() == [0, 2]
    assert [reject.row for reject in chunk.rejects] == [1]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.dictionaries(_names, _values), min_size=1, max_size=5))
def test_unpacking_gives_what_reading_gives(
    tmp_path: Path, properties: list[dict[str, Any]]
) -> None:
    records = [feature(str(i)) | {"properties": p} for i, p in enumerate(properties)]
    path = write_json(tmp_path / "f.ndjson", records)
    for columns in (None, ["a"], ["c.d"], []):
        (packed,) = read_packed(path)
        assert unpack(packed.batch, columns).equals(only(path, columns=columns).batch)


def test_only_the_wanted_properties_are_packed(tmp_path: Path) -> None:
    path = write_json(tmp_path / "f.ndjson", [feature("a", x=1, y=2)])
    (chunk,) = read_packed(path, columns=["y"])
    assert chunk.batch.column("properties").to_pylist() == ['{"y":2}']


def test_parquet_is_refused(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "f.parquet", id=["a"], geometry=[point_wkb()])
    with pytest.raises(InputError, match="is Parquet, which has no packed form"):
        read_packed(path)
