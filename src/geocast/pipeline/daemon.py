"""Spark's Python daemon, with the matching core already loaded.

Spark forks its Python workers from a daemon. One that has imported and used the core before hands
it to all of them: a worker is ready at once, also after Spark has ended the idle ones. Spark starts
other daemons for its own small tasks; these need nothing of it.
"""

from __future__ import annotations

import gc
import struct
import sys
from typing import Final

from pyspark.daemon import manager

__all__ = ["MODULE", "load_core"]

MODULE: Final = "geocast.pipeline.daemon"
"""What to set `spark.python.daemon.module` to."""

_MATCHING_WORKER: Final = "pyspark.worker"


def load_core() -> None:
    """Match a point with an area, and so load all that matching points needs."""
    import pyarrow as pa

    import geocast.pipeline.source
    import geocast.pipeline.task  # noqa: F401 (loaded for those who are forked)
    from geocast.match.matcher import Matcher

    point = struct.pack("<BIdd", 1, 1, 0.5, 0.5)
    corners = ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0), (0.0, 0.0))
    ring = b"".join(struct.pack("<dd", *corner) for corner in corners)
    area = struct.pack("<BIII", 1, 3, 1, len(corners)) + ring
    columns = {"id": ["warm"], "geometry": pa.array([area], pa.binary()), "filter": ["n > 0"]}
    publication = {"id": ["warm"], "geometry": pa.array([point], pa.binary()), "n": [1]}
    for index in ("cells", "quadtree"):
        Matcher(pa.table(columns), index=index).match(pa.table(publication))


if __name__ == "__main__":
    if sys.argv[1:2] == [_MATCHING_WORKER]:
        load_core()
        # A worker collects garbage after every task: what was loaded here is none.
        gc.freeze()
    manager()
