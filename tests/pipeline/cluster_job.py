"""Match on a cluster of two executors, each with a work directory of its own; prints JSON."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pyspark

import geocast.spark
from geocast.pipeline import spark_session
from tests.pipeline.generate import as_dict, publications, subscriptions


def main(folder: str) -> None:
    with spark_session("local-cluster[2,1,1024]") as spark:
        frame = spark.createDataFrame(publications(200)).repartition(4)
        found = as_dict(geocast.spark.match(frame, subscriptions()).toArrow())
        work = Path(pyspark.__file__).parent / "work" / spark.sparkContext.applicationId
    shutil.rmtree(work, ignore_errors=True)
    Path(folder, "found.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1])
