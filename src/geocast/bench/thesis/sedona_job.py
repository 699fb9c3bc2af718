"""A spatial join of Apache Sedona, timed: a script for the environment that has Sedona.

It is run by the path of this file, with a JSON object as its only argument, and prints another one
as its last line. It imports nothing of Geocast, which that environment does not have.
"""

from __future__ import annotations

import json
import os
import sys
import time
from functools import reduce
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 (the name that Spark users know)

__all__ = ["main"]

_FUNCTIONS = {
    "equals": "ST_Equals",
    "touches": "ST_Touches",
    "crosses": "ST_Crosses",
    "within": "ST_Within",
    "overlaps": "ST_Overlaps",
    "contains": "ST_Contains",
    "intersects": "ST_Intersects",
    "covers": "ST_Covers",
    "coveredby": "ST_CoveredBy",
    "disjoint": "ST_Disjoint",
}
"""Those that meet are found by a spatial join; for `disjoint` Spark compares all with all."""


def main(asked: dict[str, Any]) -> None:
    """Join the warm publications, then all, and print the seconds that the latter took."""
    session = _session(asked)
    areas = _geometries(session, asked["subscriptions"], "predicate").cache()
    asked_for = {row["predicate"] for row in areas.select("predicate").distinct().collect()}
    if os.listdir(asked["warm"]):
        _join(session, areas, asked_for, asked["warm"], asked["out"])
    began = time.perf_counter()
    _join(session, areas, asked_for, asked["parts"], asked["out"])
    print(json.dumps({"seconds": time.perf_counter() - began}))
    session.stop()


def _session(asked: dict[str, Any]) -> SparkSession:
    builder = SparkSession.builder.master(asked["master"])
    for name, value in asked["settings"].items():
        builder = builder.config(name, value)
    session: SparkSession = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def _geometries(session: SparkSession, path: str, *more: str) -> DataFrame:
    shape = F.expr("ST_GeomFromWKB(geometry)").alias("shape")
    return session.read.parquet(path).select("id", *more, shape)


def _join(
    session: SparkSession, areas: DataFrame, asked_for: set[str], publications: str, out: str
) -> None:
    """Write the pairs; a join for each predicate that is asked for, publication first."""
    events = _geometries(session, publications).alias("p")
    found = [
        events.join(
            areas.where(F.col("predicate") == name).alias("s"),
            F.expr(f"{function}(p.shape, s.shape)"),
        ).select(F.col("p.id").alias("publication"), F.col("s.id").alias("subscription"))
        for name, function in _FUNCTIONS.items()
        if name in asked_for
    ]
    reduce(DataFrame.unionAll, found).write.mode("overwrite").parquet(out)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
