"""Whatever is done to a log, in whatever order, it says what a plain list says."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from geocast.log import Log, Record
from tests.log.implementations import EMBEDDED, IMPLEMENTATIONS, Open
from tests.log.model import ListLog

PARTITIONS = 2
KEYS = st.sampled_from([f"k{i}" for i in range(12)])
RECORDS = st.lists(st.tuples(KEYS, st.binary(max_size=20)), max_size=8)
OFFSETS = st.integers(0, 40)


class LogMachine(RuleBasedStateMachine):
    open_log: ClassVar[Open]

    def __init__(self) -> None:
        super().__init__()
        self._place = Path(tempfile.mkdtemp(prefix="geocast-log-"))
        self._model = ListLog(PARTITIONS)
        self._homes: dict[str, int] = {}
        self._log = self._open()

    def _open(self) -> Log:
        return type(self).open_log(self._place, PARTITIONS, clock=lambda: self._model.clock)

    @rule(records=RECORDS)
    def append(self, records: list[tuple[str, bytes]]) -> None:
        positions = self._log.append(records)
        for (key, _), position in zip(records, positions, strict=True):
            assert self._homes.setdefault(key, position.partition) == position.partition
        assert positions == self._model.append(records, self._homes.__getitem__)

    @rule(
        partition=st.integers(0, PARTITIONS - 1),
        records=RECORDS,
        batch=st.integers(0, 3),
        source=st.integers(0, 2),
    )
    def write(
        self, partition: int, records: list[tuple[str, bytes]], batch: int, source: int
    ) -> None:
        done = self._log.write(partition, records, query="q", batch=batch, source=source)
        assert done == self._model.write(partition, records, ("q", batch, source))
        expected = {s for _, b, s in self._model.writers if b == batch}
        assert self._log.written("q", batch) == expected

    @rule(
        partition=st.integers(0, PARTITIONS - 1),
        start=OFFSETS,
        stop=st.none() | OFFSETS,
        max_records=st.integers(1, 20),
        max_bytes=st.integers(0, 200),
    )
    def read(
        self, partition: int, start: int, stop: int | None, max_records: int, max_bytes: int
    ) -> None:
        batch = self._log.read(partition, start, stop, max_records=max_records, max_bytes=max_bytes)
        found = [Record(**row) for row in batch.to_pylist()]
        assert found == self._model.read(partition, start, stop, max_records, max_bytes)

    @rule(
        partition=st.integers(0, PARTITIONS - 1),
        start=OFFSETS,
        stop=OFFSETS,
        max_records=st.integers(1, 20),
        max_bytes=st.integers(0, 200),
    )
    def tail(self, partition: int, start: int, stop: int, max_records: int, max_bytes: int) -> None:
        batch = self._log.tail(partition, start, stop, max_records=max_records, max_bytes=max_bytes)
        found = [Record(**row) for row in batch.to_pylist()]
        assert found == self._model.tail(partition, start, stop, max_records, max_bytes)

    @rule(time=st.integers(0, 250))
    def since(self, time: int) -> None:
        assert self._log.since(time) == self._model.since(time)

    @precondition(lambda self: any(self._model.records))
    @rule(data=st.data())
    def expire(self, data: st.DataObject) -> None:
        times = st.sampled_from(sorted({r.time for part in self._model.records for r in part}))
        before = data.draw(st.none() | times)
        max_bytes = data.draw(st.none() | st.integers(0, 400))
        keep = data.draw(st.none() | st.lists(OFFSETS, min_size=PARTITIONS, max_size=PARTITIONS))
        dropped = self._log.expire(before=before, max_bytes=max_bytes, keep=keep)
        assert dropped == self._model.expire(before, max_bytes, keep)

    @rule(key=KEYS)
    def find(self, key: str) -> None:
        kept = self._model.kept(self._homes[key]) if key in self._homes else []
        expected = next((record for record in kept if record.key == key), None)
        if key in self._homes:
            assert self._log.find(key) == expected

    @rule(clock=st.integers(1, 200))
    def set_clock(self, clock: int) -> None:
        self._model.clock = clock

    @rule()
    def open_again(self) -> None:
        name = self._log.name
        self._log.close()
        self._log = self._open()
        assert self._log.name == name

    @invariant()
    def bounds_agree(self) -> None:
        assert self._log.starts() == self._model.starts
        assert self._log.ends() == [len(records) for records in self._model.records]

    def teardown(self) -> None:
        self._log.close()
        shutil.rmtree(self._place)


@pytest.mark.parametrize("name", EMBEDDED)
def test_a_log_does_what_a_list_does(name: str) -> None:
    class Machine(LogMachine):
        open_log = staticmethod(IMPLEMENTATIONS[name])

    run_state_machine_as_test(
        Machine,
        settings=settings(max_examples=60, stateful_step_count=30, deadline=None),
    )
