"""What a log is, beside its records: a small file that is there when all others are."""

from __future__ import annotations

import fcntl
import json
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from geocast.errors import InputError, StateError
from geocast.log.checks import check_partitions
from geocast.log.sqlite.schema import create_partition
from geocast.operate import write_durably

__all__ = ["Description", "load", "load_or_create", "partition_path"]

_FILE: Final = "log.json"
_FORMAT: Final = 1


@dataclass(frozen=True, slots=True)
class Description:
    """The name of a log, and what it was made with."""

    name: str
    partitions: int
    unique_keys: bool


def partition_path(directory: Path, partition: int) -> Path:
    """Return the file of a partition."""
    return directory / f"{partition:04d}.sqlite"


def load(directory: Path) -> Description | None:
    """Return the description of the log in a directory, None where there is no log."""
    path = directory / _FILE
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise StateError(f"{path}: cannot be read: {error}") from error
    try:
        return _parsed(json.loads(text))
    except (ValueError, TypeError, KeyError) as error:
        raise StateError(f"{path}: does not describe a log: {error}") from error


def load_or_create(directory: Path, partitions: int, unique_keys: bool) -> Description:
    """Return the description of the log in a directory, after making one where there is none.

    Safe when several processes do it at once, and after a crash in the middle of it.
    """
    check_partitions(partitions)
    found = load(directory)
    if found is not None:
        return found
    try:
        with _locked(directory):
            found = load(directory)
            return found or _create(directory, partitions, unique_keys)
    except OSError as error:
        raise InputError(f"{directory}: a log cannot be made here: {error.strerror}") from error


def _parsed(content: dict[str, Any]) -> Description:
    if content["format"] != _FORMAT:
        raise ValueError(f"its format is {content['format']!r}, this version reads {_FORMAT}")
    return Description(
        str(content["name"]), int(content["partitions"]), bool(content["unique_keys"])
    )


def _create(directory: Path, partitions: int, unique_keys: bool) -> Description:
    made = Description(uuid.uuid4().hex, partitions, unique_keys)
    for partition in range(partitions):
        create_partition(partition_path(directory, partition), unique_keys)
    content = json.dumps({"format": _FORMAT} | asdict(made))
    write_durably(directory / _FILE, content.encode())
    return made


@contextmanager
def _locked(directory: Path) -> Iterator[None]:
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
