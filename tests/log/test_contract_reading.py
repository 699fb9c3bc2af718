"""What every log promises: reading ranges, and what has expired."""

from __future__ import annotations

import time

import pytest

from geocast.errors import InputError
from geocast.log import Log
from tests.log.conftest import Logs
from tests.log.records import many, offsets, pairs

FUTURE = 1 << 60


def test_reading_takes_a_range(logs: Logs) -> None:
    log = logs.open(1)
    log.append(many(10))
    assert offsets(log.read(0, 3, 6)) == [3, 4, 5]
    assert offsets(log.read(0, 8)) == [8, 9]
    assert offsets(log.read(0, 8, 50)) == [8, 9]
    for start, stop in [(10, None), (11, None), (5, 5), (5, 2), (50, 60)]:
        assert offsets(log.read(0, start, stop)) == []


def test_reading_is_bounded_by_count(logs: Logs) -> None:
    log = logs.open(1)
    log.append(many(10))
    assert offsets(log.read(0, 2, max_records=3)) == [2, 3, 4]
    assert offsets(log.read(0, 2, 4, max_records=3)) == [2, 3]
    with pytest.raises(InputError, match="max_records must be at least 1, not 0"):
        log.read(0, 0, max_records=0)


def test_reading_is_bounded_by_the_bytes_of_keys_and_values(logs: Logs) -> None:
    log = logs.open(1)
    log.append([(f"ä{i}", b"x" * 7) for i in range(10)])
    assert offsets(log.read(0, 0, max_bytes=30)) == [0, 1, 2]
    assert offsets(log.read(0, 4, max_bytes=29)) == [4, 5]
    assert offsets(log.read(0, 4, 5, max_bytes=29)) == [4]


def test_at_least_one_record_is_read(logs: Logs) -> None:
    log = logs.open(1)
    log.append([("a", b"x" * 1000), ("b", b"")])
    assert offsets(log.read(0, 0, max_bytes=10)) == [0]
    assert offsets(log.read(0, 1, max_bytes=0)) == [1]


def test_a_range_gives_the_same_records_every_time(logs: Logs) -> None:
    log = logs.open(1)
    log.append(many(30))
    before = log.read(0, 5, 20)
    log.append(pairs("more"))
    log.expire(before=FUTURE, keep=[5])
    assert log.read(0, 5, 20) == before
    log.close()
    assert logs.open(1).read(0, 5, 20) == before


def test_reading_on_bound_by_bound_gives_everything(logs: Logs) -> None:
    log = logs.open(1)
    log.append([(str(i), b"x" * (i % 50)) for i in range(500)])
    seen: list[int] = []
    while batch := offsets(log.read(0, len(seen), max_records=40, max_bytes=700)):
        seen += batch
    assert seen == list(range(500))


@pytest.mark.parametrize("partition", [-1, 2])
def test_a_partition_that_is_none_is_refused(log: Log, partition: int) -> None:
    with pytest.raises(InputError, match=f"no partition {partition} among 2"):
        log.read(partition, 0)
    with pytest.raises(InputError, match=f"no partition {partition} among 2"):
        log.write(partition, [], query="q", batch=0, source=0)


# Expiry


def test_old_records_expire(logs: Logs) -> None:
    log = logs.open(1)
    times = []
    for key in "abcd":
        times.append(log.append(pairs(key))[0].time)
        time.sleep(0.005)
    assert log.expire(before=times[2]) == 2
    assert (log.starts(), log.ends()) == ([2], [4])
    assert offsets(log.read(0, 0)) == [2, 3]
    assert offsets(log.read(0, 1, 3)) == [2]
    assert log.expire(before=times[2]) == 0


def test_what_must_be_kept_is_kept(logs: Logs) -> None:
    log = logs.open(2)
    log.append(many(100))
    ends = log.ends()
    assert log.expire(before=FUTURE, keep=[5, 0]) == 5
    assert log.starts() == [5, 0]
    assert log.expire(before=FUTURE, keep=[7, 3]) == 5
    assert log.starts() == [7, 3]
    assert log.expire(before=FUTURE, keep=[2, 1_000_000]) == ends[1] - 3
    assert log.starts() == [7, ends[1]]
    with pytest.raises(InputError, match="keep has 1 offsets for 2 partitions"):
        log.expire(before=FUTURE, keep=[5])


def test_expiry_without_a_reason_drops_nothing(log: Log) -> None:
    log.append(many(10))
    assert log.expire() == 0


def test_many_records_expire(logs: Logs) -> None:
    log = logs.open(1)
    log.append(many(12_000))
    assert log.expire(before=FUTURE, keep=[11_000]) == 11_000
    assert offsets(log.read(0, 0)) == list(range(11_000, 12_000))


def test_offsets_are_never_reused(logs: Logs) -> None:
    log = logs.open(1)
    log.append(many(5))
    assert log.expire(before=FUTURE) == 5
    assert log.starts() == log.ends() == [5]
    assert offsets(log.read(0, 0)) == []
    log.close()
    log = logs.open(1)
    assert log.starts() == log.ends() == [5]
    positions = log.append(many(5))
    assert [p.offset for p in positions] == [5, 6, 7, 8, 9]
    assert all(p.new for p in positions)
    assert offsets(log.read(0, 0)) == [5, 6, 7, 8, 9]


def test_the_tail_of_a_range(logs: Logs) -> None:
    log = logs.open(1)
    log.append([(f"ä{i}", b"x" * 7) for i in range(10)])
    assert offsets(log.tail(0, 0, 10, max_records=3)) == [7, 8, 9]
    assert offsets(log.tail(0, 5, 7, max_records=3)) == [5, 6]
    assert offsets(log.tail(0, 0, 50, max_records=9, max_bytes=29)) == [8, 9]
    assert offsets(log.tail(0, 0, 10, max_records=9, max_bytes=0)) == [9]
    for start, stop in [(10, 20), (5, 5), (6, 2)]:
        assert offsets(log.tail(0, start, stop, max_records=3)) == []
    with pytest.raises(InputError, match="max_records must be at least 1, not 0"):
        log.tail(0, 0, 1, max_records=0)


def test_offsets_by_time(logs: Logs) -> None:
    log = logs.open(1)
    for name in "abc":
        log.append(pairs(name))
        time.sleep(0.005)  # clocks may count in milliseconds
    times = log.read(0, 0)["time"].to_pylist()
    assert [log.since(at) for at in times] == [[0], [1], [2]]
    assert (log.since(0), log.since(times[1] + 1), log.since(times[2] + 1)) == ([0], [2], [3])
    log.expire(before=times[1])
    assert log.since(0) == [1]
