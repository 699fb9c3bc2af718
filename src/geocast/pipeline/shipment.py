"""A matcher on its way to the workers: saved once, mapped into memory by every worker.

A broadcast value would be unpickled into each Python worker process, at the cost of one whole
index a core. Files are mapped instead: workers on one machine share one copy.
"""

from __future__ import annotations

import atexit
import shutil
import tarfile
import tempfile
import uuid
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from pyspark import SparkContext, SparkFiles

from geocast.match.matcher import Matcher
from geocast.pipeline.session import is_local

__all__ = ["Shipment"]

_OPEN_AT_ONCE = 2
"""Matchers a worker keeps open: that of the running job and one before it."""


@dataclass(frozen=True, slots=True)
class Shipment:
    """What the workers need to know to find a saved matcher.

    `name` is never given twice, so it is also the version: a worker that has opened it once
    need not look again. `directory` is None where Spark carries the files.
    """

    name: str
    directory: str | None

    @classmethod
    def send(cls, matcher: Matcher, context: SparkContext) -> Shipment:
        """Save the matcher where the workers of that context will find it.

        Workers on this machine read it in place. To other machines Spark carries an archive,
        and unpacks it; plain directories it carries on this machine only.
        """
        name = f"geocast-{uuid.uuid4().hex}"
        room = _temporary_directory()
        matcher.save(room / name)
        if is_local(context.master):
            return cls(name, str(room / name))
        with tarfile.open(room / f"{name}.tar", "w") as archive:
            for entry in sorted((room / name).iterdir()):
                archive.add(entry, arcname=entry.name)
        context.addArchive(f"{room / name}.tar#{name}")
        return cls(name, None)

    def open(self) -> Matcher:
        """Return the matcher, in a worker; opened once a worker process."""
        return _open(self.directory or SparkFiles.get(self.name))


@lru_cache(maxsize=_OPEN_AT_ONCE)
def _open(directory: str) -> Matcher:
    return Matcher.open(directory)


def _temporary_directory() -> Path:
    """Make a directory that is removed when this process ends."""
    directory = tempfile.mkdtemp(prefix="geocast-")
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    return Path(directory)
