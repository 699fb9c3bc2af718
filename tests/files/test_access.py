"""Files that cannot be opened: one line that names the file."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from geocast.errors import InputError
from geocast.files import read
from tests.files.samples import SUFFIXES


def _message(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        list(read(path, "publications"))
    return str(caught.value)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_missing_file(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"none{suffix}"
    assert _message(path) == f"{path}: no such file"


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_folder_by_the_name_of_a_file(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"folder{suffix}"
    path.mkdir()
    assert _message(path).startswith(f"{path}: is a folder without Parquet parts")


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(
    ("code", "said"), [(errno.EACCES, "permission denied"), (errno.EIO, "cannot be read: broken")]
)
def test_a_file_that_the_system_does_not_give(
    code: int, said: str, suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"f{suffix}"
    path.write_bytes(b"PAR1PAR1")

    def refuse(*arguments: Any, **options: Any) -> Any:
        raise OSError(code, "broken")

    monkeypatch.setattr(Path, "open", refuse)
    monkeypatch.setattr(pq, "ParquetFile", refuse)
    assert _message(path) == f"{path}: {said}"
