"""What every log promises: appending, times, opening and closing."""

from __future__ import annotations

import threading

import pytest

from geocast.errors import InputError, StateError
from geocast.log import RECORDS, Log, Position, Record
from geocast.model import now
from tests.log.conftest import Logs
from tests.log.records import everything, many, pairs

MILLISECOND = 1_000


def test_a_new_log_is_empty(log: Log) -> None:
    assert log.partitions == 2
    assert log.starts() == log.ends() == [0, 0]
    batch = log.read(0, 0)
    assert batch.num_rows == 0
    assert batch.schema == RECORDS


def test_what_is_appended_is_read_where_the_position_says(log: Log) -> None:
    records = many(100)
    positions = log.append(records)
    assert all(position.new for position in positions)
    found = {(r.partition, r.offset): r for part in everything(log) for r in part}
    assert len(found) == 100
    for (key, value), at in zip(records, positions, strict=True):
        place = (at.partition, at.offset)
        assert found[place] == Record(*place, at.time, key, value)


def test_a_batch_has_the_schema_and_no_nulls(log: Log) -> None:
    log.append(many(100))
    batch = log.read(1, 0)
    batch.validate(full=True)
    assert batch.schema == RECORDS
    assert all(column.null_count == 0 for column in batch.columns)


def test_keys_spread_over_partitions(log: Log) -> None:
    log.append(many(200))
    assert min(log.ends()) > 50
    assert sum(log.ends()) == 200


def test_a_partition_keeps_the_order_of_appending(log: Log) -> None:
    records = many(60)
    for start in range(0, 60, 7):
        log.append(records[start : start + 7])
    order = {key: place for place, (key, _) in enumerate(records)}
    for part in everything(log):
        assert [r.offset for r in part] == list(range(len(part)))
        places = [order[r.key] for r in part]
        assert places == sorted(places)


def test_a_key_always_goes_to_the_same_partition(logs: Logs) -> None:
    log = logs.open(4, unique_keys=False)
    first = log.append(many(50))
    log.close()
    again = logs.open(4, unique_keys=False).append(many(50))
    assert [p.partition for p in first] == [p.partition for p in again]
    assert len({p.partition for p in first}) == 4


def test_nothing_appended_is_nothing(log: Log) -> None:
    assert log.append([]) == []
    assert log.ends() == [0, 0]


@pytest.mark.parametrize("key", ["", "ä/漢字 😀", "with\0nul", "'; DROP", "x" * 10_000])
@pytest.mark.parametrize("value", [b"", b"\0\xff", b"x" * 1_000_000])
def test_any_text_and_any_bytes_come_back(log: Log, key: str, value: bytes) -> None:
    (at,) = log.append([(key, value)])
    record = Record(at.partition, at.offset, at.time, key, value)
    assert log.find(key) == record
    assert everything(log)[at.partition] == [record]
    assert log.append([(key, b"other")]) == [Position(at.partition, 0, at.time, False)]


def test_a_key_that_is_no_text_is_refused(log: Log) -> None:
    with pytest.raises(InputError, match="no valid text"):
        log.append([("good", b""), ("\ud800", b"")])
    assert log.ends() == [0, 0]


# Keys again


def test_a_key_is_appended_once(log: Log) -> None:
    (first,) = log.append(pairs("a"))
    (again,) = log.append([("a", b"something else")])
    assert again == Position(first.partition, first.offset, first.time, False)
    assert sum(log.ends()) == 1
    found = log.find("a")
    assert found is not None
    assert found.value == b"value of a"


def test_a_key_twice_in_one_call_is_appended_once_in_its_first_place(logs: Logs) -> None:
    log = logs.open(1)
    a, b, again, c = log.append([("a", b"1"), ("b", b"2"), ("a", b"3"), ("c", b"4")])
    assert [a.offset, b.offset, again.offset, c.offset] == [0, 1, 0, 2]
    assert [a.new, b.new, again.new, c.new] == [True, True, False, True]
    assert again.time == a.time
    assert [r.value for r in everything(log)[0]] == [b"1", b"2", b"4"]


def test_known_and_new_keys_may_mix(logs: Logs) -> None:
    log = logs.open(1)
    log.append(pairs("a", "b"))
    positions = log.append(pairs("x", "b", "y", "a"))
    assert [p.offset for p in positions] == [2, 1, 3, 0]
    assert [p.new for p in positions] == [True, False, True, False]


def test_keys_are_known_after_opening_again(logs: Logs) -> None:
    log = logs.open()
    first = log.append(many(20))
    log.close()
    again = logs.open().append(many(20))
    assert [(p.partition, p.offset, p.time) for p in again] == [
        (p.partition, p.offset, p.time) for p in first
    ]
    assert not any(p.new for p in again)


def test_keys_may_repeat_where_they_need_not_be_unique(logs: Logs) -> None:
    log = logs.open(1, unique_keys=False)
    positions = log.append(pairs("a", "b", "a")) + log.append(pairs("a"))
    assert [p.offset for p in positions] == [0, 1, 2, 3]
    assert all(p.new for p in positions)
    found = log.find("a")
    assert found is not None
    assert found.offset == 0


def test_find_knows_what_is_kept_only(log: Log) -> None:
    assert log.find("a") is None
    (at,) = log.append(pairs("a"))
    assert log.find("a") == Record(at.partition, 0, at.time, "a", b"value of a")
    log.expire(before=at.time + 1)
    assert log.find("a") is None


# Times


def test_times_are_those_of_appending_and_do_not_decrease(logs: Logs) -> None:
    log = logs.open(1)
    before = now()
    for call in range(5):
        log.append(pairs(*(f"{call}/{i}" for i in range(3))))
    times = [r.time for r in everything(log)[0]]
    assert times == sorted(times)
    assert before - MILLISECOND < times[0]
    assert times[-1] <= now() + MILLISECOND


# Opening and closing


def test_a_log_keeps_its_name(logs: Logs) -> None:
    log = logs.open()
    name = log.name
    assert len(name) == 32
    log.close()
    assert logs.open().name == name


def test_a_log_has_the_partitions_that_it_was_made_with(logs: Logs) -> None:
    logs.open(3)
    with pytest.raises(StateError, match="the log has 3 partitions, not 2"):
        logs.open(2)


def test_a_log_has_a_partition(logs: Logs) -> None:
    with pytest.raises(InputError, match="1 to 1024 partitions, not 0"):
        logs.open(0)


def test_a_closed_log_says_so(log: Log) -> None:
    log.append(pairs("a"))
    log.close()
    log.close()
    for use in (log.ends, log.starts, lambda: log.read(0, 0), lambda: log.append(pairs("b"))):
        with pytest.raises(StateError, match="closed"):
            use()


def test_threads_share_a_log(log: Log) -> None:
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for call in range(10):
                log.append(pairs(*(f"{number}/{call}/{i}" for i in range(5))))
                log.read(0, 0)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert sum(log.ends()) == 400
    for part in everything(log):
        assert [r.offset for r in part] == list(range(len(part)))
