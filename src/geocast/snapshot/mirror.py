"""Snapshots on a machine that does not have their directory: fetched once, mapped by all.

The processes of a machine share one copy, in files: whoever needs a version first fetches what the
machine lacks of it, the others wait. Every version can be fetched again as long as a batch may need
it, so nothing here has to be kept.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException, HTTPResponse
from pathlib import Path
from typing import Final
from urllib.parse import quote, urlsplit

from geocast.errors import StateError
from geocast.operate import TEMPORARY, on_this_machine
from geocast.snapshot.layout import Layout, Version
from geocast.snapshot.serve import TOKEN_HEADER
from geocast.snapshot.unneeded import remove_unneeded

__all__ = ["SnapshotPlace"]

_SECONDS: Final = 60.0
_BLOCK: Final = 1 << 20
_USED_SECONDS: Final = 600.0


@dataclass(frozen=True, slots=True)
class SnapshotPlace:
    """Where a directory of snapshots is; can be sent to processes of other machines.

    Without a `url` everybody sees `directory`. With one, `directory` is the copy that each machine
    makes for itself; a relative one lies in the machine's folder for copies.
    """

    directory: Path
    url: str = ""
    token: str = field(default="", repr=False)

    def here(self, version: int) -> Path:
        """Return a directory on this machine that has the version, fetched where it has to be.

        Raises StateError where it cannot be fetched.
        """
        if not self.url:
            return self.directory
        directory = on_this_machine(self.directory)
        _Mirror(Layout(directory), self.url, self.token).ensure(version)
        return directory


@dataclass(frozen=True, slots=True)
class _Mirror:
    layout: Layout
    url: str
    token: str = field(repr=False)

    def ensure(self, number: int) -> None:
        """Have a version here, complete; it counts as used from now on."""
        file = self.layout.path_of(number)
        if not _touch(file):
            self.layout.make()
            with _locked(self.layout.directory / "lock"):
                if not _touch(file):
                    self._fetch(number)
                    _forget_unused(self.layout)

    def _fetch(self, number: int) -> None:
        layout, where = self.layout, urlsplit(self.url)
        assert where.hostname is not None, "an address has a host"
        try:
            with closing(HTTPConnection(where.hostname, where.port, timeout=_SECONDS)) as server:
                source = _Source(server, self.token)
                content = source.content(f"versions/{number}.json")
                version = _named(content)
                for name in version.parts:
                    if not (layout.parts / name).is_dir():
                        _fetch_part(source, layout.parts / name)
                if version.tombstones is not None:
                    file = f"tombstones/{version.tombstones}"
                    _replace(layout.directory / file, source.content(file))
        except (OSError, HTTPException) as error:
            told = str(error) or type(error).__name__
            raise StateError(
                f"snapshot {number} cannot be fetched from {self.url}: {told}"
            ) from error
        _replace(layout.path_of(number), content)


@dataclass(frozen=True, slots=True)
class _Source:
    """What the server has, over one connection."""

    server: HTTPConnection
    token: str

    def content(self, path: str) -> bytes:
        """Return a whole file."""
        return self._get(path).read()

    def copy(self, path: str, to: Path, size: int) -> None:
        """Write a file of that size to a path."""
        answer = self._get(path)
        with to.open("wb") as file:
            shutil.copyfileobj(answer, file, _BLOCK)
        if to.stat().st_size != size:
            raise HTTPException(f"{path} has {to.stat().st_size} of {size} bytes")

    def _get(self, path: str) -> HTTPResponse:
        self.server.request("GET", f"/{quote(path)}", headers={TOKEN_HEADER: self.token})
        answer = self.server.getresponse()
        if answer.status != 200:
            answer.read()
            raise HTTPException(f"{path}: {answer.status} {answer.reason}")
        if answer.length is None:
            raise HTTPException(f"{path}: the answer was cut off")
        return answer


def _named(content: bytes) -> Version:
    fields = json.loads(content)
    return Version(**{**fields, "parts": tuple(fields["parts"])})


def _fetch_part(source: _Source, folder: Path) -> None:
    """Fetch a part as a whole; what is left of an attempt that was cut off is no part."""
    sizes: dict[str, int] = json.loads(source.content(f"parts/{folder.name}"))
    fresh = folder.with_name(folder.name + TEMPORARY)
    shutil.rmtree(fresh, ignore_errors=True)
    for name, size in sizes.items():
        to = fresh / name
        to.parent.mkdir(parents=True, exist_ok=True)
        source.copy(f"parts/{folder.name}/{name}", to, size)
    fresh.rename(folder)


def _replace(path: Path, content: bytes) -> None:
    fresh = path.with_name(path.name + TEMPORARY)
    fresh.write_bytes(content)
    fresh.replace(path)


def _touch(file: Path) -> bool:
    """Note that a version is in use; tells whether it is there."""
    try:
        os.utime(file)
    except FileNotFoundError:
        return False
    return True


def _forget_unused(layout: Layout) -> None:
    """Delete versions that nobody on this machine has asked for lately."""
    since = time.time() - _USED_SECONDS
    used = {n for n in layout.numbers() if layout.path_of(n).stat().st_mtime >= since}
    remove_unneeded(layout, used)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
