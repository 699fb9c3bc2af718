"""Files on their way to the workers: written once, mapped into memory by every worker.

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
from pathlib import Path

from pyspark import SparkContext, SparkFiles

from geocast.pipeline.session import is_local

__all__ = ["Shipment", "new_folder"]


@dataclass(frozen=True, slots=True)
class Shipment:
    """What the workers need to know to find a folder of files.

    `name` is never given twice, so it is also the version: a worker that has opened it once
    need not look again. `folder` is None where Spark carries the files.
    """

    name: str
    folder: str | None

    @classmethod
    def send(cls, folder: Path, context: SparkContext) -> Shipment:
        """Let the workers of that context find a folder that `new_folder` gave.

        Workers on this machine read it in place. To other machines Spark carries an archive,
        and unpacks it; plain directories it carries on this machine only.
        """
        if is_local(context.master):
            return cls(folder.name, str(folder))
        archive = folder.with_suffix(".tar")
        if not archive.exists():
            with tarfile.open(archive, "w") as file:
                for entry in sorted(folder.iterdir()):
                    file.add(entry, arcname=entry.name)
        context.addArchive(f"{archive}#{folder.name}")
        return cls(folder.name, None)

    def path(self) -> Path:
        """Return the folder, in a worker."""
        return Path(self.folder or SparkFiles.get(self.name))


def new_folder() -> Path:
    """Return a path for a folder to be made, which is removed when this process ends."""
    room = tempfile.mkdtemp(prefix="geocast-")
    atexit.register(shutil.rmtree, room, ignore_errors=True)
    return Path(room) / f"geocast-{uuid.uuid4().hex}"
