"""What has been measured, kept line by line, so that a run can go on where another ended."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, fields
from pathlib import Path

from geocast.bench.data import DataFolder
from geocast.bench.machine import machine_facts
from geocast.bench.thesis.setting import Found, Setting
from geocast.errors import InputError

__all__ = ["Journal", "place_of"]


class Journal:
    """A file with a line for each finished measurement; `place` is machine and data."""

    def __init__(self, path: Path, place: str) -> None:
        self._path, self._place = path, place
        self._known = _read(path) if path.exists() else {}

    def find(self, setting: Setting) -> Found | None:
        """Return what was found with exactly this setting, at this place."""
        return self._known.get(setting.key(self._place))

    def add(self, setting: Setting, found: Found) -> None:
        """Write a measurement down; it is in the file when this returns."""
        key = setting.key(self._place)
        line = {"key": key, "setting": setting.flat(), "found": asdict(found)}
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        self._known[key] = found


def place_of(folder: DataFolder, names: list[str]) -> str:
    """Describe the machine, the versions and the data files: other ones give other keys."""
    facts = machine_facts()
    told = [facts[name] for name in ("processor", "cores", "memory", "geocast", "pyspark")]
    sizes = [(name, (folder.path / f"{name}.parquet").stat().st_size) for name in names]
    text = json.dumps([told, sizes])
    return hashlib.sha256(text.encode()).hexdigest()


def _read(path: Path) -> dict[str, Found]:
    _cut_unfinished(path)
    known = {}
    for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            line = json.loads(text)
            found = {field.name: line["found"][field.name] for field in fields(Found)}
            known[line["key"]] = Found(**found)
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"line {number} of {str(path)!r} is no measurement ({error!r}); remove it, or "
                "choose another folder with --out"
            ) from None
    return known


def _cut_unfinished(path: Path) -> None:
    """Cut off a last line that a killed process did not finish."""
    written = path.read_bytes()
    whole = written.rfind(b"\n") + 1
    if whole < len(written):
        path.write_bytes(written[:whole])
