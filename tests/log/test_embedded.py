"""What logs promise that have a clock of their own, leave no gaps, and bound their size."""

from __future__ import annotations

from itertools import count

import pytest

from geocast.errors import StateError
from tests.log.conftest import Logs
from tests.log.records import everything, pairs


@pytest.mark.parametrize(("made", "kind"), [(True, "unique"), (False, "repeated")])
def test_a_log_has_the_kind_of_keys_that_it_was_made_for(
    embedded: Logs, made: bool, kind: str
) -> None:
    embedded.open(1, unique_keys=made)
    with pytest.raises(StateError, match=f"made for {kind} keys"):
        embedded.open(1, unique_keys=not made)


def test_times_increase_when_the_clock_stands_or_goes_back(embedded: Logs) -> None:
    ticks = iter([1_000, 1_000, 400, 5_000, 1])
    log = embedded.open(1, clock=lambda: next(ticks))
    for call in range(5):
        log.append(pairs(*(f"{call}/{i}" for i in range(3))))
    times = [r.time for r in everything(log)[0]]
    assert times == [*range(1_000, 1_009), *range(5_000, 5_006)]


def test_times_increase_over_opening_again_and_expiry(embedded: Logs) -> None:
    log = embedded.open(1, clock=lambda: 9_000)
    log.append(pairs("a"))
    log.expire(before=10_000)
    log.close()
    (at,) = embedded.open(1, clock=lambda: 5).append(pairs("b"))
    assert (at.offset, at.time) == (1, 9_001)


def test_times_come_from_the_clock(embedded: Logs) -> None:
    clock = count(1_000_000, 1_000)
    log = embedded.open(1, clock=lambda: next(clock))
    assert [log.append(pairs(key))[0].time for key in "abc"] == [1_000_000, 1_001_000, 1_002_000]


def test_written_and_appended_records_share_offsets_and_times(embedded: Logs) -> None:
    log = embedded.open(1, clock=lambda: 10)
    log.append(pairs("a"))
    log.write(0, pairs("b", "c"), query="q", batch=0, source=0)
    log.append(pairs("d"))
    assert log.ends() == [4]
    assert [(r.offset, r.time, r.key) for r in everything(log)[0]] == [
        (0, 10, "a"),
        (1, 11, "b"),
        (2, 12, "c"),
        (3, 13, "d"),
    ]


def test_the_oldest_expire_until_the_size_is_met_over_all_partitions(embedded: Logs) -> None:
    clock = count(100, 10)
    log = embedded.open(2, clock=lambda: next(clock))
    at = [log.append([(f"{i:02d}", b"x" * 8)])[0] for i in range(20)]
    assert log.expire(max_bytes=200) == 0
    assert log.expire(max_bytes=75) == 13
    kept = {(r.partition, r.offset) for part in everything(log) for r in part}
    assert kept == {(p.partition, p.offset) for p in at[13:]}
    assert log.expire(max_bytes=0) == 7
    assert log.starts() == log.ends()


def test_age_and_size_both_count(embedded: Logs) -> None:
    clock = count(100, 10)
    log = embedded.open(1, clock=lambda: next(clock))
    for i in range(10):
        log.append([(str(i), b"x" * 9)])
    assert log.expire(before=130, max_bytes=80) == 3
    assert log.expire(before=130, max_bytes=50) == 2
