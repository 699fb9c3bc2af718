"""What `geocast package` packs for machines that do not have Geocast."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from itertools import takewhile
from pathlib import Path

import pytest

from geocast.cli import package
from geocast.errors import StateError
from geocast.match import warm as kernels
from geocast.match.warm import compiled_kernels, warm

WARM = "import geocast; print(geocast.__file__); from geocast.match.warm import warm; warm()"


def unpacked(folder: Path) -> None:
    """Copy Geocast and its kernels to where they stand in the archive."""
    own = takewhile(
        lambda each: each[1].startswith("geocast/"), package._files(list(compiled_kernels()))
    )
    for file, name in own:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(file, folder / name)


def compiled(folder: Path) -> dict[str, bytes]:
    found = list(folder.rglob("*.nb[ci]"))
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def test_kernels_are_used_wherever_the_archive_is_unpacked(tmp_path: Path) -> None:
    warm()
    unpacked(tmp_path / "packages")
    before = compiled(tmp_path / "packages")
    assert before
    launcher = package._LAUNCHER.format(version="3")
    (locators,) = re.findall(r'^export (NUMBA_\w+)="(\S+)"$', launcher, re.MULTILINE)
    known = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    own = {"PYTHONPATH": str(tmp_path / "packages"), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", WARM],
        env={**known, **own, locators[0]: locators[1]},
        capture_output=True,
        text=True,
        check=True,
    )
    assert Path(done.stdout.strip()).is_relative_to(tmp_path / "packages")
    assert compiled(tmp_path / "packages") == before
    assert not compiled(tmp_path / "cache")


def test_an_archive_without_kernels_is_not_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernels, "compiled_kernels", lambda: iter(()))
    monkeypatch.setattr(kernels, "warm", lambda: None)
    with pytest.raises(StateError, match="no compiled kernels to pack"):
        package.package(tmp_path / "out")
    assert not (tmp_path / "out").exists()
