from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from geocast.errors import StateError
from geocast.gateway.appender import Appender
from geocast.log import Position, SqliteLog


class CountingLog(SqliteLog):
    """A real log that can be held up, and notes how much comes at once."""

    gate: threading.Event
    sizes: list[int]

    def append(self, records: Sequence[tuple[str, bytes]]) -> list[Position]:
        self.gate.wait(10)
        self.sizes.append(len(records))
        return super().append(records)


@pytest.fixture
def log(tmp_path: Path) -> CountingLog:
    found = CountingLog.open(tmp_path / "log")
    assert isinstance(found, CountingLog)
    found.gate, found.sizes = threading.Event(), []
    return found


def test_what_waits_is_written_together(log: CountingLog) -> None:
    async def run() -> list[list[Position]]:
        appender = Appender(log)
        tasks = []
        for k in range(50):
            tasks.append(asyncio.ensure_future(appender.append([(f"k{k}", b"x"), (f"l{k}", b"y")])))
            await asyncio.sleep(0)
        log.gate.set()
        found = await asyncio.gather(*tasks)
        appender.close()
        return list(found)

    with closing(log):
        positions = asyncio.run(run())
        assert sum(log.sizes) == 100
        assert len(log.sizes) <= 2
        for k, (first, second) in enumerate(positions):
            for key, position in ((f"k{k}", first), (f"l{k}", second)):
                record = log.find(key)
                assert record is not None
                assert (record.partition, record.offset) == (position.partition, position.offset)


def test_a_failure_reaches_everybody_who_waits(log: CountingLog) -> None:
    async def run() -> list[BaseException | list[Position]]:
        appender = Appender(log)
        tasks = [appender.append([(str(k), b"x")]) for k in range(3)]
        waiting = asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0.05)
        log.close()
        log.gate.set()
        found = await waiting
        appender.close()
        return found

    assert [type(each) for each in asyncio.run(run())] == [StateError] * 3


def test_what_waits_is_written_before_it_closes(log: CountingLog) -> None:
    async def run() -> list[Position]:
        appender = Appender(log)
        waiting = asyncio.ensure_future(appender.append([("k", b"x")]))
        await asyncio.sleep(0.05)
        log.gate.set()
        await asyncio.to_thread(appender.close)
        with pytest.raises(StateError, match="closing"):
            await appender.append([("late", b"x")])
        return await waiting

    with closing(log):
        [position] = asyncio.run(run())
        assert position.new


def test_nothing_to_close(log: CountingLog) -> None:
    Appender(log).close()
    log.close()
