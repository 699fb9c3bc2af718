from __future__ import annotations

from pathlib import Path

import pytest

from geocast.bench.data import ENVIRONMENT_VARIABLE, FILES, DataFolder
from geocast.errors import InputError
from tests.bench.fakes import write_fake_data


def test_the_option_goes_before_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "option").mkdir()
    (tmp_path / "environment").mkdir()
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, str(tmp_path / "environment"))
    assert DataFolder.find(tmp_path / "option").path == tmp_path / "option"
    assert DataFolder.find(None).path == tmp_path / "environment"


def test_no_folder_at_all_names_both_ways_to_give_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ENVIRONMENT_VARIABLE, raising=False)
    with pytest.raises(InputError, match=r"--data.*GEOCAST_DATA"):
        DataFolder.find(None)


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nowhere"):
        DataFolder.find(tmp_path / "nowhere")


def test_one_error_lists_all_missing_files_with_origin_and_licence(tmp_path: Path) -> None:
    write_fake_data(tmp_path)
    missing = ["us_states_10m", "sf_cabspotting_week"]
    for name in missing:
        (tmp_path / f"{name}.parquet").unlink()
    with pytest.raises(InputError) as caught:
        DataFolder(tmp_path).require(FILES)
    message = str(caught.value)
    assert message.count(".parquet") == len(missing)
    for name in missing:
        assert str(FILES[name]) in message
        assert FILES[name].licence in message
        assert FILES[name].origin in message


def test_a_file_that_is_not_parquet_is_named(tmp_path: Path) -> None:
    (tmp_path / "us_states_10m.parquet").write_text("nonsense")
    with pytest.raises(InputError, match="us_states_10m"):
        DataFolder(tmp_path).geometries("us_states_10m")


def test_the_catalogue_says_what_every_file_has() -> None:
    for file in FILES.values():
        assert file.columns
        assert all((file.what, file.origin, file.licence))
