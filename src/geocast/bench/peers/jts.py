"""JTS, the Java original of GEOS: an STR tree, then plain predicates, in a Java process.

The library is the one that PySpark carries; the Java program beside this file is compiled when
it starts, which takes a JDK. The CPU time is that of its matching thread alone, so neither the
pipe to it nor Java's compiler counts.
"""

from __future__ import annotations

import shutil
import struct
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import IO

import numpy as np
import pyarrow as pa

from geocast.bench.peers.base import Pairs, Peer

__all__ = ["Jts"]

_PROGRAM = Path(__file__).parent / "JtsPeer.java"


class Jts(Peer):
    """The subscriptions lie in a Java process that answers batch after batch.

    It runs with JTS's newer and faster relate (`jts.relate=ng`).
    """

    name = "JTS"

    @classmethod
    def reason_missing(cls) -> str | None:
        """Say so where there is no JDK, or no library."""
        if shutil.which("java") is None or shutil.which("javac") is None:
            return "no JDK (java and javac) on the path"
        return None if _library() else "no jts-core jar among PySpark's"

    def __init__(self, subscriptions: pa.Table) -> None:
        command = ["java", "-XX:+UseSerialGC", "-Djts.relate=ng", "-cp", str(_library())]
        self._process = subprocess.Popen(
            [*command, str(_PROGRAM)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._cpu_seconds = 0.0
        stdin = self._stdin()
        stdin.write(struct.pack(">i", subscriptions.num_rows))
        columns = (subscriptions["predicate"].to_pylist(), subscriptions["geometry"].to_pylist())
        for predicate, wkb in zip(*columns, strict=True):
            stdin.write(struct.pack(">H", len(predicate)) + predicate.encode())
            stdin.write(struct.pack(">i", len(wkb)) + wkb)
        # An empty batch is answered when the tree is built; that belongs to loading.
        self.match(pa.table({"geometry": pa.array([], pa.binary())}))

    def match(self, publications: pa.Table) -> Pairs:
        """Return all pairs."""
        stdin = self._stdin()
        stdin.write(struct.pack(">i", publications.num_rows))
        for wkb in publications["geometry"].to_pylist():
            stdin.write(struct.pack(">i", len(wkb)) + wkb)
        stdin.flush()
        nanoseconds, count = struct.unpack(">qi", self._read(12))
        self._cpu_seconds = nanoseconds / 1e9
        pairs = np.frombuffer(self._read(8 * count), ">i4").astype(np.int64).reshape(-1, 2)
        return Pairs(pairs[:, 0], pairs[:, 1])

    def cpu_seconds(self) -> float:
        """Return the CPU time of the Java process's matching thread."""
        return self._cpu_seconds

    def close(self) -> None:
        """End the Java process: it stops where its input ends."""
        self._stdin().close()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def _stdin(self) -> IO[bytes]:
        if self._process.stdin is None:
            raise RuntimeError("the Java process has no standard input")
        return self._process.stdin

    def _read(self, size: int) -> bytes:
        if self._process.stdout is None:
            raise RuntimeError("the Java process has no standard output")
        data = self._process.stdout.read(size)
        if len(data) < size:
            raise RuntimeError(f"the Java process ended with status {self._process.wait()}")
        return data


def _library() -> Path | None:
    spec = find_spec("pyspark")
    if spec is None or spec.origin is None:
        return None
    jars = sorted((Path(spec.origin).parent / "jars").glob("jts-core-*.jar"))
    return jars[-1] if jars else None
