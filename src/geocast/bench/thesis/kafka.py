"""Throughput of a streaming query that reads a topic of Kafka, by the topic's partitions."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 (the name that Spark users know)

from geocast.bench.thesis.batch import BatchJob
from geocast.bench.thesis.setting import Found, Setting
from geocast.bench.thesis.stream import run_queries
from geocast.bench.thesis.workloads import Files
from geocast.errors import StateError
from geocast.log import LogPlace, kafka_options
from geocast.log.kafka.client import Clients
from geocast.log.kafka.topics import Topics
from geocast.operate import Settings
from geocast.pipeline.source import log_stream

__all__ = ["check_kafka", "measure_kafka"]

_MICRO_BATCHES: Final = 4
_MOST_BYTES: Final = 1 << 30


def check_kafka(url: str) -> None:
    """Raise InputError where this is no address of Kafka, StateError where no broker answers."""
    options = kafka_options(Settings.of(log=url))
    Topics(Clients(options)).describe(f"{options.prefix}.thesis")


def measure_kafka(
    session: SparkSession, setting: Setting, files: Files, room: Path, url: str
) -> Found:
    """Write the publications to a topic of `setting.files` partitions, and stream them from it.

    A record is a publication: its id is the key, its geometry the value. Writing is not counted.
    """
    job = BatchJob(session, setting, files, room)
    job.warm()
    with _topic(url, setting.files, files.publications) as place:
        most = -(-files.publications.num_rows // _MICRO_BATCHES)
        records = log_stream(session, place, max_records=most, max_bytes=_MOST_BYTES)
        source = records.select(F.col("key").alias("id"), F.col("value").alias("geometry"))
        return run_queries(job, [source], files, room)


@contextmanager
def _topic(url: str, partitions: int, publications: pa.Table) -> Iterator[LogPlace]:
    """Give a topic of its own with these publications, and remove it afterwards."""
    place = LogPlace(Path(f"thesis-{uuid.uuid4().hex}"), partitions, unique_keys=False, url=url)
    options = kafka_options(Settings.of(log=url))
    topics, name = Topics(Clients(options)), f"{options.prefix}.{place.directory.name}"
    try:
        with closing(place.open()) as log:
            columns = (publications[column].to_pylist() for column in ("id", "geometry"))
            log.append(list(zip(*columns, strict=True)))
        yield place
    except BaseException:
        with suppress(StateError):  # what went wrong before is what is to be told
            topics.remove(name)
        raise
    topics.remove(name)
