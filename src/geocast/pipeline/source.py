"""A log as a streaming source of Spark: what lies in it, batch by batch.

Spark keeps offsets in its checkpoint, and asks again for the same range of them when a batch has
to be repeated; a range of a log gives the same records every time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import (
    BinaryType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from geocast.errors import InputError, StateError, UnknownNameError
from geocast.log import Log, LogPlace

__all__ = [
    "LogDataSource",
    "LogRange",
    "LogStreamReader",
    "SourceOptions",
    "log_stream",
    "read_range",
    "shares",
]

_SCHEMA: Final = StructType(
    [
        StructField("partition", IntegerType(), nullable=False),
        StructField("offset", LongType(), nullable=False),
        StructField("time", LongType(), nullable=False),
        StructField("key", StringType(), nullable=False),
        StructField("value", BinaryType(), nullable=False),
    ]
)
_STARTS: Final = ("earliest", "latest")


def log_stream(
    session: SparkSession,
    log: LogPlace,
    *,
    max_records: int,
    max_bytes: int,
) -> DataFrame:
    """Return the records of a log as a stream with the columns of RECORDS.

    A batch has at most `max_records` of them, and of about `max_bytes`.
    """
    session.dataSource.register(LogDataSource)
    reader = session.readStream.format(LogDataSource.name())
    place = {"url": log.url, "partitions": log.partitions, "unique_keys": log.unique_keys}
    limits = {"max_records": max_records, "max_bytes": max_bytes}
    return reader.options(**place, **limits).load(str(log.directory))


def read_range(
    log: Log, where: str, partition: int, start: int, stop: int
) -> Iterator[pa.RecordBatch]:
    """Yield the records of a partition at offsets in [start, stop), all that there are.

    Raises StateError where some of them have expired, or the log ends before `stop`; it is
    then called by `where` it is.
    """
    offset = start
    while offset < stop:
        batch = log.read(partition, offset, stop)
        if not batch.num_rows:
            break
        offset = batch["offset"][-1].as_py() + 1
        yield batch
    # A broker that was cut off from the others may know less than was planned with.
    end = log.ends()[partition]
    if offset < stop and end < stop:
        raise StateError(
            f"{where}: partition {partition} ends at {end}, before offset {stop} that it had"
        )
    kept = log.starts()[partition]
    if kept > start:
        raise StateError(
            f"{where}: no record at offset {start} of partition {partition}: "
            f"the log begins at {kept}"
        )


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """The options of the source, as Spark hands them over: names and texts."""

    log: LogPlace
    max_records: int
    max_bytes: int
    start: str

    @classmethod
    def read(cls, options: Mapping[str, str]) -> SourceOptions:
        """Return the options; raises InputError for what is missing or cannot be used."""
        if not options.get("path"):
            raise InputError("the option 'path' must name the directory of a log")
        start = options.get("start", _STARTS[0])
        if start not in _STARTS:
            raise UnknownNameError("start", start, _STARTS)
        return cls(
            LogPlace(
                Path(options["path"]),
                _positive("partitions", options.get("partitions", "2")),
                options.get("unique_keys", "true").lower() == "true",
                options.get("url", ""),
            ),
            _positive("max_records", options.get("max_records", "20000")),
            _positive("max_bytes", options.get("max_bytes", str(64 << 20))),
            start,
        )


class LogDataSource(DataSource):  # type: ignore[misc]
    """The data source `geocast-log`.

    Options: `path`, the directory of the log; `url`, for one in Kafka, with its `partitions` and
    whether it has `unique_keys`; `max_records` and `max_bytes`, how much a batch
    takes at most, where the bytes are shared out evenly over the partitions that have something
    new, and each of these gives one record at least; `start`, where a query without a checkpoint
    begins: `earliest` or `latest`.
    """

    @classmethod
    def name(cls) -> str:
        """The name to use in `format`."""
        return "geocast-log"

    def schema(self) -> StructType:
        """The columns of RECORDS; none of them is ever null."""
        return _SCHEMA

    def streamReader(self, schema: StructType) -> LogStreamReader:  # noqa: N802
        """Return the reader of a query."""
        return LogStreamReader(SourceOptions.read(self.options))


@dataclass(frozen=True, slots=True)
class LogRange(InputPartition):  # type: ignore[misc]
    """What one task reads: offsets in [start, stop) of one partition."""

    partition: int
    start: int
    stop: int


class LogStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):  # type: ignore[misc]
    """Plans batches, on the driver, and reads their ranges, in the workers.

    The planner opens the log once and keeps it; so does a worker that runs tasks. An offset of
    the stream names its log, so that a checkpoint cannot be used with another one.
    """

    def __init__(self, options: SourceOptions) -> None:
        self._options = options
        self._opened: Log | None = None
        self._target: list[int] | None = None

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802
        """Return where a query without a checkpoint begins."""
        log = self._log()
        return self._offset(log.starts() if self._options.start == "earliest" else log.ends())

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """Return the option `max_records`."""
        return ReadMaxRows(self._options.max_records)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """Take note of what is there now; nothing that comes later will be read."""
        self._target = self._log().ends()

    def reportLatestOffset(self) -> dict[str, Any]:  # noqa: N802
        """Return the end of the log, for the query's progress."""
        return self._offset(self._log().ends())

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802
        """Return where the batch that begins at `start` ends."""
        log = self._log()
        starts = self._offsets(start)
        ends = log.ends()
        for partition, (begin, end) in enumerate(zip(starts, ends, strict=True)):
            if begin > end:
                raise StateError(
                    f"{self._where()}: the checkpoint is at offset {begin} of partition "
                    f"{partition}, but the log ends at {end}"
                )
        if self._target is not None:
            ends = [max(a, min(b, c)) for a, b, c in zip(starts, ends, self._target, strict=True)]
        if isinstance(limit, ReadAllAvailable):
            return self._offset(ends)
        if not isinstance(limit, ReadMaxRows):
            raise InputError(f"a log cannot be read by {type(limit).__name__}")
        return self._offset(self._limited(log, starts, ends, limit.max_rows))

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[LogRange]:
        """Return a range for each partition that has records in the batch."""
        spans = zip(self._offsets(start), self._offsets(end), strict=True)
        ranges = [LogRange(number, a, b) for number, (a, b) in enumerate(spans) if a < b]
        kept = self._log().starts()
        for part in ranges:
            if part.start < kept[part.partition]:
                raise StateError(
                    f"{self._where()}: records from offset {part.start} of partition "
                    f"{part.partition} have expired before they were read; the log now begins "
                    f"at {kept[part.partition]}"
                )
        return ranges

    def read(self, partition: LogRange) -> Iterator[pa.RecordBatch]:
        """Yield the records of a range."""
        span = partition.partition, partition.start, partition.stop
        yield from read_range(_opened(self._options.log), self._where(), *span)

    def stop(self) -> None:
        """Close the log."""
        if self._opened is not None:
            self._opened.close()

    def _log(self) -> Log:
        if self._opened is None:
            self._opened = self._options.log.open_existing()
        return self._opened

    def _where(self) -> str:
        log = self._options.log
        return f"{log.url or log.directory}"

    def _limited(
        self, log: Log, starts: Sequence[int], ends: Sequence[int], max_records: int
    ) -> list[int]:
        waiting = [end - start for start, end in zip(starts, ends, strict=True)]
        counts = shares(waiting, max_records)
        bytes_each = self._options.max_bytes // max(1, sum(count > 0 for count in counts))
        return [
            log.within(partition, start, start + count, bytes_each) if count else start
            for partition, (start, count) in enumerate(zip(starts, counts, strict=True))
        ]

    def _offset(self, offsets: Sequence[int]) -> dict[str, Any]:
        numbered = {str(partition): offset for partition, offset in enumerate(offsets)}
        return {"log": self._log().name, "offsets": numbered}

    def _offsets(self, offset: dict[str, Any]) -> list[int]:
        log = self._log()
        if offset["log"] != log.name:
            raise StateError(
                f"{self._where()}: the checkpoint belongs to the log {offset['log']}, "
                f"this one is {log.name}"
            )
        return [int(offset["offsets"][str(partition)]) for partition in range(log.partitions)]


_open: dict[LogPlace, Log] = {}
"""The log that this worker has read last."""


def _opened(place: LogPlace) -> Log:
    """Return a log that stays open: what a worker reads next follows what it has read.

    It is closed when another one is read: a log in Kafka has a client for each partition.
    """
    if place not in _open:
        for log in _open.values():
            log.close()
        _open.clear()
        _open[place] = place.open_existing()
    return _open[place]


def shares(waiting: Sequence[int], total: int) -> list[int]:
    """Share a total out among those who wait: evenly, but to nobody more than they want."""
    given = [0] * len(waiting)
    by_need = sorted(range(len(waiting)), key=waiting.__getitem__)
    for rank, number in enumerate(by_need):
        given[number] = min(waiting[number], total // (len(waiting) - rank))
        total -= given[number]
    return given


def _positive(name: str, text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        raise InputError(f"the option {name!r} must be a whole number, not {text!r}") from None
    if number < 1:
        raise InputError(f"the option {name!r} must be at least 1, not {number}")
    return number
