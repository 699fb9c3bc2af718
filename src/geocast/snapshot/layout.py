"""Where things are in a directory of snapshots, and what a version of it is."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import numpy as np

from geocast.errors import StateError
from geocast.operate import write_durably
from geocast.snapshot.numbers import Numbers, load_numbers

__all__ = ["MANIFEST", "VNUMBERS", "Layout", "Version"]

MANIFEST: Final = "manifest.json"
"""Written last into a part: one without it is not complete."""

VNUMBERS: Final = "vnumbers.npy"

_SUFFIX: Final = ".json"


@dataclass(frozen=True, slots=True)
class Version:
    """An immutable set of subscription versions.

    It holds what its parts hold, without the numbers in the file `tombstones`, each of which is
    in one part. `through` is the last change that it knows of, `count` how many subscriptions
    stand in it, `bytes` the size of the files that it names.
    """

    version: int
    through: int
    parts: tuple[str, ...]
    count: int
    bytes: int
    tombstones: str | None = None


NOTHING: Final = Version(0, 0, (), 0, 0)


@dataclass(frozen=True, slots=True)
class Layout:
    """The paths in a directory of snapshots, and its versions as they are on disk."""

    directory: Path

    @property
    def parts(self) -> Path:
        """The directory of parts, each a saved matcher."""
        return self.directory / "parts"

    @property
    def versions(self) -> Path:
        """The directory of versions."""
        return self.directory / "versions"

    @property
    def tombstones(self) -> Path:
        """The directory of lists of subscriptions that are in parts but stand no more."""
        return self.directory / "tombstones"

    def make(self) -> None:
        """Make the directories that are missing."""
        for path in (self.parts, self.versions, self.tombstones):
            path.mkdir(parents=True, exist_ok=True)

    def numbers(self) -> list[int]:
        """Return the versions there are, ascending."""
        found = (path.stem for path in self.versions.glob(f"*{_SUFFIX}"))
        return sorted(int(stem) for stem in found if stem.isdecimal())

    def latest(self) -> Version | None:
        """Return the newest version, None where there is none."""
        numbers = self.numbers()
        return self.read(numbers[-1]) if numbers else None

    def path_of(self, number: int) -> Path:
        """Return the file of a version."""
        return self.versions / f"{number}{_SUFFIX}"

    def read(self, number: int) -> Version:
        """Read a version. Raises StateError where it is not there, or is damaged."""
        path = self.path_of(number)
        try:
            fields = json.loads(path.read_bytes())
            version = Version(**{**fields, "parts": tuple(fields["parts"])})
        except FileNotFoundError:
            raise StateError(f"{self.directory} has no version {number}") from None
        except (ValueError, TypeError, KeyError) as error:
            raise StateError(f"{path} is damaged: {error}") from error
        if version.version != number:
            raise StateError(f"{path} is damaged: it calls itself version {version.version}")
        return version

    def publish(self, version: Version) -> Version:
        """Write a version, all of whose files are on disk; from now on it can be opened."""
        content = json.dumps(asdict(version)).encode()
        write_durably(self.path_of(version.version), content)
        return version

    def check(self, version: Version) -> None:
        """Raise StateError unless everything that the version names is there and complete."""
        needed = [
            self.parts / name / file for name in version.parts for file in (MANIFEST, VNUMBERS)
        ]
        if version.tombstones is not None:
            needed.append(self.tombstones / version.tombstones)
        missing = [str(path) for path in needed if not path.is_file()]
        if missing:
            number = version.version
            raise StateError(f"version {number} is not complete, missing: {', '.join(missing)}")

    def removed(self, version: Version) -> Numbers:
        """Return the numbers that parts of the version hold but the version does not, sorted."""
        if version.tombstones is None:
            return np.empty(0, np.int64)
        return load_numbers(self.tombstones / version.tombstones)
