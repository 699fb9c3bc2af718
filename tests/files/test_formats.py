from __future__ import annotations

from pathlib import Path

import pytest

from geocast.errors import InputError
from geocast.files import Format, check_output, format_of, input_size
from tests.files.samples import write_parquet


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.parquet", Format.PARQUET),
        ("a.geoparquet", Format.PARQUET),
        ("a.geojson", Format.COLLECTION),
        ("a.json", Format.COLLECTION),
        ("a.geojsonl", Format.SEQUENCE),
        ("a.geojsons", Format.SEQUENCE),
        ("a.ndjson", Format.SEQUENCE),
        ("A.GeoJSON", Format.COLLECTION),
        ("archive.2015.parquet", Format.PARQUET),
    ],
)
def test_the_suffix_tells_the_format(name: str, expected: Format) -> None:
    assert format_of(name) is expected
    assert format_of(Path("folder") / name) is expected


@pytest.mark.parametrize(
    ("name", "said"),
    [("a.csv", "unknown suffix '.csv'"), ("a", "unknown name without a suffix")],
)
def test_an_unknown_suffix_is_refused_with_the_known_ones(name: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        format_of(name)
    message = str(caught.value)
    assert message.startswith(f"{name}: {said}; known suffixes: .parquet, .geoparquet, .geojson")
    assert "\n" not in message


def test_a_folder_is_taken_for_parquet(tmp_path: Path) -> None:
    assert format_of(tmp_path) is Format.PARQUET


def test_the_size_of_a_folder_is_that_of_its_parts(tmp_path: Path) -> None:
    sizes = [
        write_parquet(tmp_path / name, id=["a"]).stat().st_size
        for name in ("1.parquet", "2.parquet")
    ]
    (tmp_path / "_SUCCESS").write_bytes(b"x" * 100)
    assert input_size(tmp_path) == sum(sizes)


def test_the_size_of_a_missing_file_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        input_size(tmp_path / "none.parquet")


@pytest.mark.parametrize("name", ["m.parquet", "m.ndjson", "M.NDJSON"])
def test_outputs_that_can_be_written(name: str, tmp_path: Path) -> None:
    check_output(tmp_path / name)
    check_output("-")
    check_output(None)
    assert list(tmp_path.iterdir()) == []


def test_outputs_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "d.parquet").mkdir()
    for path, said in (
        (tmp_path / "m.csv", "known suffixes: .parquet, .ndjson"),
        (tmp_path / "d.parquet", "is a folder"),
        (tmp_path / "none" / "m.parquet", "does not exist"),
    ):
        with pytest.raises(InputError, match=said) as caught:
            check_output(path)
        assert str(caught.value).startswith(str(path))
