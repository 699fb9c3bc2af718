"""What was published lately: the log of publications, read from its end."""

from __future__ import annotations

import heapq
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

import orjson

from geocast.gateway.boxes import Bounds, meets
from geocast.log import Log, Record
from geocast.model import split_key, to_rfc3339
from geocast.repository import Repository

__all__ = ["MAX_EVENTS", "Page", "Recent", "document", "records_of"]

MAX_EVENTS: Final = 20_000
"""How many events one answer may have."""

_MOST_LOOKED_AT: Final = 100_000
_MOST_BYTES: Final = 32 << 20
_CHUNK: Final = 2_000
_CHUNK_BYTES: Final = 4 << 20
_FRESH_SECONDS: Final = 5.0
_WORLD: Final = (-180.0, -90.0, 180.0, 90.0)


@dataclass(frozen=True, slots=True)
class Page:
    """Some records, newest first; `following` is where the next page ends, for each partition."""

    records: list[Record]
    following: list[int] | None


class Recent:
    """The publications of a log that are not withdrawn, newest first."""

    def __init__(self, repository: Repository, log: Log) -> None:
        self._repository = repository
        self._log = log
        self._lock = threading.Lock()
        self._kept: tuple[float, list[int], int, list[Record]] = (0.0, [], 0, [])

    def page(
        self,
        after: int | None,
        before: int | None,
        stops: Sequence[int] | None,
        box: Bounds | None,
        limit: int,
    ) -> Page:
        """Return records of [after, before) whose bounds meet a box, at most `limit`.

        `stops` is `following` of the page before. A page looks at a bounded number of records, so
        it may have fewer, also none, where others follow.
        """
        starts = self._log.starts() if after is None else self._log.since(after)
        ends = self._log.ends() if before is None else self._log.since(before)
        if stops is not None:
            ends = [min(end, stop) for end, stop in zip(ends, stops, strict=True)]
        reached, found, size = list(ends), list[Record](), 0
        for record in islice(_newest_first(self._log, starts, ends), _MOST_LOOKED_AT):
            reached[record.partition] = record.offset
            if box is None or meets(orjson.loads(record.value)["geometry"], box):
                found.append(record)
                size += len(record.value)
            if len(found) == limit or size >= _MOST_BYTES:
                break
        more = any(stop > start for start, stop in zip(starts, reached, strict=True))
        return Page(self.standing(found), reached if more else None)

    def last(self, count: int) -> list[Record]:
        """Return those of the last records that stand, newest first.

        What was read is kept for a few seconds while nothing is new.
        """
        ends = self._log.ends()
        with self._lock:
            at, kept_ends, kept_count, kept = self._kept
            fresh = time.monotonic() - at < _FRESH_SECONDS
            if not (fresh and kept_ends == ends and kept_count >= count):
                newest = _newest_first(self._log, self._log.starts(), ends)
                kept = list(_light(islice(newest, count)))
                self._kept = (time.monotonic(), ends, count, kept)
        return self.standing(kept[:count])

    def standing(self, records: list[Record]) -> list[Record]:
        """Return those of the records that are not withdrawn."""
        gone = self._repository.mailbox.withdrawn([record.key for record in records])
        return [one for one in records if one.time > gone.get(one.key, -1)] if gone else records


def _light(records: Iterable[Record]) -> Iterator[Record]:
    """Yield records while they are not too much to be kept."""
    size = 0
    for record in records:
        yield record
        size += len(record.value)
        if size >= _MOST_BYTES:
            return


def records_of(log: Log, starts: Sequence[int], ends: Sequence[int], most: int) -> list[Record]:
    """Return the last records of ranges, at most so many of all partitions, oldest first.

    Where there are more, each partition gives its share.
    """
    fresh = [max(0, end - start) for start, end in zip(starts, ends, strict=True)]
    total = sum(fresh)
    found: list[Record] = []
    for partition, count in enumerate(fresh):
        share = count if total <= most else count * most // total
        if share:
            last = _tail(log, partition, starts[partition], ends[partition], share)
            found += _features(log, last)
    return sorted(found, key=lambda record: record.time)


def document(record: Record) -> bytes:
    """Return a publication as a Feature that says where it stands in the log."""
    told: dict[str, Any] = {
        "publisher": split_key(record.key)[0],
        "time": to_rfc3339(record.time),
        "partition": record.partition,
        "offset": record.offset,
    }
    if b'"geocast"' in record.value:
        return orjson.dumps({**orjson.loads(record.value), "geocast": told})
    return b'%s,"geocast":%s}' % (record.value[:-1], orjson.dumps(told))


def _newest_first(log: Log, starts: Sequence[int], ends: Sequence[int]) -> Iterator[Record]:
    partitions = [
        _backwards(log, partition, start, end)
        for partition, (start, end) in enumerate(zip(starts, ends, strict=True))
    ]
    return heapq.merge(*partitions, key=lambda record: record.time, reverse=True)


def _backwards(log: Log, partition: int, start: int, stop: int) -> Iterator[Record]:
    while stop > start:
        found = _tail(log, partition, start, stop, _CHUNK)
        if not found:
            return
        stop = found[0].offset
        yield from _features(log, reversed(found))


def _features(log: Log, records: Iterable[Record]) -> Iterator[Record]:
    """Leave out what is no Feature, where others than the gateway may have written it."""
    return (record for record in records if not log.shared or _is_feature(record.value))


def _is_feature(value: bytes) -> bool:
    try:
        return meets(orjson.loads(value)["geometry"], _WORLD)
    except (ValueError, TypeError, KeyError, IndexError):
        return False


def _tail(log: Log, partition: int, start: int, stop: int, count: int) -> list[Record]:
    batch = log.tail(partition, start, stop, max_records=count, max_bytes=_CHUNK_BYTES)
    return [Record(*values) for values in zip(*(c.to_pylist() for c in batch.columns), strict=True)]
