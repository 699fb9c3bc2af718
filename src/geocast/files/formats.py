"""Which format a path has. The suffix alone decides, so that an answer needs no reading."""

from __future__ import annotations

import hashlib
from enum import Enum
from pathlib import Path

from geocast.errors import InputError

__all__ = [
    "FEATURE_SUFFIXES",
    "Format",
    "check_output",
    "feature_format",
    "format_of",
    "input_size",
    "open_error",
    "parquet_parts",
    "stamp",
    "table_format",
]


class Format(Enum):
    """A format of features."""

    PARQUET = "Parquet"
    COLLECTION = "GeoJSON FeatureCollection"
    SEQUENCE = "GeoJSON sequence"


FEATURE_SUFFIXES = {
    ".parquet": Format.PARQUET,
    ".geoparquet": Format.PARQUET,
    ".geojson": Format.COLLECTION,
    ".json": Format.COLLECTION,
    ".geojsonl": Format.SEQUENCE,
    ".geojsons": Format.SEQUENCE,
    ".ndjson": Format.SEQUENCE,
}
"""The suffixes of feature files; case does not matter."""

_TABLE_SUFFIXES = {".parquet": Format.PARQUET, ".ndjson": Format.SEQUENCE}


def format_of(path: str | Path) -> Format:
    """Return the format of a feature file; a folder is taken for one of Parquet parts.

    Raises InputError for a suffix that is none of FEATURE_SUFFIXES.
    """
    return Format.PARQUET if Path(path).is_dir() else feature_format(path)


def feature_format(path: str | Path) -> Format:
    """Return the format in which features are written to `path`, as `format_of` a file."""
    return _by_suffix(Path(path), FEATURE_SUFFIXES)


def table_format(path: str | Path) -> Format:
    """Return the format in which matches or rejects are written to `path`.

    Raises InputError for a suffix that is neither `.parquet` nor `.ndjson`.
    """
    return _by_suffix(Path(path), _TABLE_SUFFIXES)


def check_output(path: str | Path | None) -> None:
    """Raise InputError at once where matches or rejects could not be written to `path`.

    Meant to be called before long work, so that a mistyped path costs nothing. `-` and None
    stand for standard output and are always fine.
    """
    if path is None or str(path) == "-":
        return
    path = Path(path)
    table_format(path)
    if path.is_dir():
        raise InputError(f"{path}: is a folder; a file is to be written")
    if not path.parent.is_dir():
        raise InputError(f"{path}: the folder {path.parent} does not exist")


def input_size(path: str | Path) -> int:
    """Return the size of an input in bytes, the total for `Chunk.position`."""
    try:
        return sum(part.stat().st_size for part in parquet_parts(Path(path)))
    except OSError as error:
        raise open_error(path, error) from error


def parquet_parts(path: Path) -> list[Path]:
    """Return the files that make up an input: itself, or the Parquet parts in a folder.

    Names that begin with `_` or `.` are markers of other programs and are left out.
    """
    if not path.is_dir():
        return [path]
    entries = sorted(entry for entry in path.iterdir() if entry.name[0] not in "._")
    if any(entry.is_dir() for entry in entries):
        raise InputError(f"{path}: has folders inside; only a flat folder of Parquet parts is read")
    parts = [p for p in entries if FEATURE_SUFFIXES.get(p.suffix.lower()) is Format.PARQUET]
    if not parts:
        raise InputError(f"{path}: is a folder without Parquet parts (*.parquet, *.geoparquet)")
    return parts


def stamp(path: str | Path) -> str:
    """Return a text that changes whenever an input does: by names, sizes and times of its files."""
    try:
        found = [(part, part.stat()) for part in parquet_parts(Path(path))]
    except OSError as error:
        raise open_error(path, error) from error
    told = [(part.name, status.st_size, status.st_mtime_ns) for part, status in found]
    return hashlib.sha256(repr(told).encode()).hexdigest()


def open_error(path: str | Path, error: OSError) -> InputError:
    """Return the InputError that says in one line why a file could not be opened or read."""
    if isinstance(error, FileNotFoundError):
        return InputError(f"{path}: no such file")
    if isinstance(error, PermissionError):
        return InputError(f"{path}: permission denied")
    if isinstance(error, IsADirectoryError):
        return InputError(f"{path}: is a folder, not a file")
    reason = error.strerror or str(error).splitlines()[0]
    return InputError(f"{path}: cannot be read: {reason}")


def _by_suffix(path: Path, suffixes: dict[str, Format]) -> Format:
    found = suffixes.get(path.suffix.lower())
    if found is None:
        what = f"suffix {path.suffix!r}" if path.suffix else "name without a suffix"
        raise InputError(f"{path}: unknown {what}; known suffixes: {', '.join(suffixes)}")
    return found
