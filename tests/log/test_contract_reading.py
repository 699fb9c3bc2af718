"""What every log promises: reading ranges, and what has expired."""

from __future__ import annotations

from itertools import count

import pytest

from geocast.errors import InputError
from geocast.log import Log
from tests.log.conftest import Logs
from tests.log.records import everything, many, offsets, pairs


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
    log.expire(before=before["time"][0].as_py())
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
    clock = count(100, 10)
    log = logs.open(1, clock=lambda: next(clock))
    for key in "abcd":
        log.append(pairs(key))
    assert log.expire(before=120) == 2
    assert (log.starts(), log.ends()) == ([2], [4])
    assert offsets(log.read(0, 0)) == [2, 3]
    assert offsets(log.read(0, 1, 3)) == [2]
    assert log.expire(before=120) == 0


def test_the_oldest_expire_until_the_size_is_met_over_all_partitions(logs: Logs) -> None:
    clock = count(100, 10)
    log = logs.open(2, clock=lambda: next(clock))
    at = [log.append([(f"{i:02d}", b"x" * 8)])[0] for i in range(20)]
    assert log.expire(max_bytes=200) == 0
    assert log.expire(max_bytes=75) == 13
    kept = {(r.partition, r.offset) for part in everything(log) for r in part}
    assert kept == {(p.partition, p.offset) for p in at[13:]}
    assert log.expire(max_bytes=0) == 7
    assert log.starts() == log.ends()


def test_age_and_size_both_count(logs: Logs) -> None:
    clock = count(100, 10)
    log = logs.open(1, clock=lambda: next(clock))
    for i in range(10):
        log.append([(str(i), b"x" * 9)])
    assert log.expire(before=130, max_bytes=80) == 3
    assert log.expire(before=130, max_bytes=50) == 2


def test_what_must_be_kept_is_kept(logs: Logs) -> None:
    log = logs.open(2)
    log.append(many(100))
    ends = log.ends()
    assert log.expire(max_bytes=0, keep=[5, 0]) == 5
    assert log.starts() == [5, 0]
    assert log.expire(before=1 << 60, keep=[7, 3]) == 5
    assert log.starts() == [7, 3]
    assert log.expire(max_bytes=0, keep=[2, 1_000_000]) == ends[1] - 3
    assert log.starts() == [7, ends[1]]
    with pytest.raises(InputError, match="keep has 1 offsets for 2 partitions"):
        log.expire(max_bytes=0, keep=[5])


def test_expiry_without_a_reason_drops_nothing(log: Log) -> None:
    log.append(many(10))
    assert log.expire() == 0


def test_many_records_expire(logs: Logs) -> None:
    log = logs.open(1)
    log.append(many(12_000))
    assert log.expire(max_bytes=0, keep=[11_000]) == 11_000
    assert offsets(log.read(0, 0)) == list(range(11_000, 12_000))


def test_offsets_are_never_reused(logs: Logs) -> None:
    log = logs.open(1)
    log.append(many(5))
    assert log.expire(max_bytes=0) == 5
    assert log.starts() == log.ends() == [5]
    assert offsets(log.read(0, 0)) == []
    log.close()
    log = logs.open(1)
    assert log.starts() == log.ends() == [5]
    positions = log.append(many(5))
    assert [p.offset for p in positions] == [5, 6, 7, 8, 9]
    assert all(p.new for p in positions)
    assert offsets(log.read(0, 0)) == [5, 6, 7, 8, 9]
