"""Compile all kernels, so that the first match does not have to wait for it.

    python -m geocast.match.warm

Compiled kernels are kept (see `geocast.match.kernels`); a second run takes a second.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import shapely
from numba.core.caching import UserProvidedCacheLocator

from geocast.match.index import INDEXES
from geocast.match.kernels import cache_directory
from geocast.match.matcher import Matcher
from geocast.model import Predicate, Rejects

__all__ = ["compiled_kernels", "main", "warm"]

_SHAPES = (
    "POINT (1 1)",
    "MULTIPOINT (0 0, 1 1)",
    "LINESTRING (0 0, 2 2)",
    "MULTILINESTRING ((0 0, 4 0), (0 4, 4 4))",
    "POLYGON ((0 0, 4 0, 4 4, 0 4, 0 0), (1 1, 2 1, 2 2, 1 2, 1 1))",
    "MULTIPOLYGON (((0 0, 1 0, 1 1, 0 0)), ((2 2, 3 2, 3 3, 2 2)))",
)


def warm() -> None:
    """Match every kind of geometry with every predicate and index, once."""
    wkb = shapely.to_wkb(shapely.from_wkt(_SHAPES))
    rows = [(g, p.label) for g in wkb for p in Predicate]
    geometry, predicate = zip(*rows, strict=True)
    ids = [str(k) for k in range(len(rows))]
    plain = {"id": ids, "geometry": list(geometry), "predicate": list(predicate)}
    filters = [f"n > {k % 2}" for k in range(len(rows))]
    publications = pa.table({"id": ids[: len(wkb)], "geometry": list(wkb), "n": range(len(wkb))})
    positive = pa.table(plain).filter(pa.array([p != "disjoint" for p in predicate]))
    for index in INDEXES:
        Matcher(pa.table({**plain, "filter": filters}), index=index).match(publications)
    Matcher(positive).match(publications, rejects=Rejects())


def compiled_kernels() -> Iterator[tuple[Path, Path]]:
    """Yield the files of all compiled kernels, and the folder of the source of each."""
    for folder in sorted({file.parent for file in Path(__file__).parent.rglob("*.py")}):
        # numba names a cache by where the source lies.
        kept = UserProvidedCacheLocator.get_suitable_cache_subpath(str(folder / "kernel.py"))
        for file in sorted((cache_directory() / kept).glob("*.nb[ic]")):
            yield file, folder


def main() -> None:
    """Warm up, and say how long it took and where the kernels are kept."""
    begin = time.monotonic()
    print("compiling kernels (a minute the first time) ...", flush=True)
    warm()
    print(f"kernels ready in {time.monotonic() - begin:.0f} s, kept in {cache_directory()}")


if __name__ == "__main__":
    main()
