"""The contract of a log with several processes at once, and with one that is killed."""

from __future__ import annotations

import time
from collections import Counter
from itertools import pairwise

from geocast.log import Log
from tests.log import processes
from tests.log.conftest import Logs


def keys_in_order(log: Log, partition: int) -> list[str]:
    batch = log.read(partition, 0, max_records=1_000_000)
    assert all(a < b for a, b in pairwise(batch["offset"].to_pylist()))
    assert all(a <= b for a, b in pairwise(batch["time"].to_pylist()))
    return [str(key) for key in batch["key"].to_pylist()]


def test_processes_append_at_once_without_gap_or_loss(logs: Logs) -> None:
    with processes.running(4, processes.append_some, logs.name, logs.place, 25, 8) as all_four:
        for process in all_four:
            process.join(120)
            assert process.exitcode == 0
    log = logs.open()
    keys = [key for partition in range(2) for key in keys_in_order(log, partition)]
    assert sum(log.ends()) == len(keys) == 4 * 25 * 8
    assert set(keys) == {f"{n}/{c}/{i}" for n in range(4) for c in range(25) for i in range(8)}
    for partition in range(2):
        for number in range(4):
            own = [k for k in keys_in_order(log, partition) if k.startswith(f"{number}/")]
            assert own == sorted(own, key=lambda key: [int(part) for part in key.split("/")])


def test_processes_that_write_the_same_write_it_once(logs: Logs) -> None:
    logs.open()
    with processes.running(3, processes.write_once, logs.name, logs.place, 20) as all_three:
        for process in all_three:
            process.join(120)
            assert process.exitcode == 0
    log = logs.open()
    for source in range(2):
        expected = [f"{batch}/{source}/{i}" for batch in range(20) for i in range(10)]
        assert keys_in_order(log, source) == expected


def test_a_killed_process_leaves_whole_calls_but_its_last(logs: Logs) -> None:
    log = logs.open(1)
    killed(logs, log, 1_500)
    batch = log.read(0, 0, max_records=1_000_000)
    by_call: dict[str, list[str]] = {}
    for key in batch["key"].to_pylist():
        call, _, number = key.rpartition("/")
        by_call.setdefault(call, []).append(number)
    for numbers in by_call.values():
        assert numbers == [str(i) for i in range(len(numbers))]
    last = {call.rpartition("/")[0]: call for call in by_call}
    assert {len(n) for call, n in by_call.items() if call not in last.values()} == {500}


def test_a_killed_process_leaves_whole_transactions(embedded: Logs) -> None:
    log = embedded.open(1)
    killed(embedded, log, 1_500)
    calls = Counter(value.as_py() for value in log.read(0, 0, max_records=1_000_000)["value"])
    assert set(calls.values()) == {500}
    assert len(keys_in_order(log, 0)) == log.ends()[0] == 500 * len(calls)
    assert log.append([("after", b"")])[0].offset == 500 * len(calls)


def killed(logs: Logs, log: Log, records: int) -> None:
    """Let processes append and kill them, four times."""
    for kill in range(4):
        before = log.ends()[0]
        with processes.running(2, processes.append_for_ever, logs.name, logs.place, 500) as both:
            while log.ends()[0] < before + records:
                assert all(process.is_alive() for process in both)
                time.sleep(0.003 * (kill + 1))
