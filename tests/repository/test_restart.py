"""A server that is killed and started again under load: nothing is lost, and nothing is twice."""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from functools import partial
from random import Random
from typing import Final

import pytest

from geocast.errors import ConflictError, StateError, UnavailableError
from geocast.model import Account, Kind, MatchRecord
from geocast.repository import Repository
from tests.postgres import Server
from tests.repository.world import asking, record, subscribe

CRASHES: Final = 4
SECONDS_BETWEEN: Final = 0.7
BATCH: Final = 25


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A server of its own: others would not like what happens to it."""
    started = Server.start(os.getpid())
    yield started
    started.stop()


class Load:
    """Two deliveries that share a partition, a subscriber, a pipeline: until told to stop."""

    def __init__(self, url: str, ann: Account, versions: list[int]) -> None:
        self.url, self.ann, self.versions = url, ann, versions
        self.stop = threading.Event()
        self.handed: Counter[str] = Counter()
        self.pins: dict[int, int] = {}
        self.added: list[str] = []

    def deliver(self) -> None:
        """As the delivery does: where something fails, ask again how far it is."""
        with closing(Repository.open(self.url)) as repository:
            while not self.stop.is_set():
                try:
                    start = repository.mailbox.position("deliver", 0)
                    records = [self._record(start + more) for more in range(BATCH)]
                    repository.mailbox.deliver("deliver", 0, start, start + BATCH, records)
                except StateError:
                    time.sleep(0.05)

    def _record(self, offset: int) -> MatchRecord:
        return record(offset, self.versions)

    def listen(self) -> None:
        """As a session does: read, mark, hand over, acknowledge until it is done."""
        with closing(Repository.open(self.url)) as repository:
            after = 0
            while not self.stop.is_set():
                with suppress(UnavailableError):
                    rows = repository.mailbox.read(self.ann.number, after=after, limit=100)
                    for row in repository.mailbox.mark_delivered(self.ann.number, rows):
                        self.handed[row.match] += 1
                    after = rows[-1].cursor if rows else after
                    repository.mailbox.acknowledge(self.ann.number, through=after)
                time.sleep(0.01)

    def pin(self) -> None:
        """As the pipeline does: patiently, one batch after the other."""
        with closing(Repository.open(self.url, patience=30)) as repository:
            batch = 0
            while not self.stop.is_set():
                self.pins[batch] = repository.ledger.pin("q", batch, batch + 1)
                repository.ledger.finish("q", batch, {0: (batch, batch + 1)}, {})
                batch += 1
                time.sleep(0.005)

    def subscribe(self) -> None:
        """As a subscriber does that gives ids: who does not know asks again, and is told."""
        with closing(Repository.open(self.url)) as repository:
            while not self.stop.is_set():
                name = f"n{len(self.added)}"
                try:
                    repository.subscriptions.add(self.ann.number, name, asking())
                except UnavailableError:
                    time.sleep(0.05)
                    continue
                except ConflictError:
                    pass
                self.added.append(name)
                time.sleep(0.005)


def test_killed_under_load(server: Server) -> None:
    with server.database() as url:
        with closing(Repository.open(url)) as first:
            ann = first.accounts.add("ann", [])
            load = Load(url, ann, subscribe(first, ann, "one", "two"))
        work = (load.deliver, load.deliver, load.listen, load.pin, load.subscribe)
        failures: list[BaseException] = []
        threads = [threading.Thread(target=partial(_run, job, failures)) for job in work]
        for thread in threads:
            thread.start()
        _crash_again_and_again(server)
        load.stop.set()
        for thread in threads:
            thread.join(60)
        assert failures == []
        _judge(url, load)


def _run(job: Callable[[], None], failures: list[BaseException]) -> None:
    try:
        job()
    except BaseException as error:
        failures.append(error)


def _crash_again_and_again(server: Server) -> None:
    random = Random(6)
    for _ in range(CRASHES):
        time.sleep(random.uniform(0.3, 1.0) * SECONDS_BETWEEN)
        server.crash()
        time.sleep(random.uniform(0.0, 0.3))
        server.resume()
    time.sleep(SECONDS_BETWEEN)


def _judge(url: str, load: Load) -> None:
    with closing(Repository.open(url)) as repository:
        end = repository.mailbox.position("deliver", 0)
        left = repository.mailbox.read(load.ann.number, limit=1_000_000)
        assert all(row.kind is Kind.MATCH for row in left)
        waiting = Counter(row.match for row in left)
        # What was handed over and not acknowledged yet still waits; all else is in one place.
        everything = set(waiting) | set(load.handed)
        assert end > 10 * BATCH
        assert len(everything) == end * 2
        assert set(waiting.values()) <= {1}
        assert set(load.handed.values()) == {1}
        assert repository.mailbox.latest() == end * 2
        entries = repository.ledger.entries("q", limit=1_000_000)
        assert {one.batch: one.snapshot for one in entries} | load.pins == load.pins
        assert len(load.pins) > 10
        standing = {one.id for one in repository.subscriptions.page(load.ann.number, limit=10**6)}
        expected = {"one", "two", *load.added}
        assert expected <= standing <= expected | {f"n{len(load.added)}"}
        changes = repository.subscriptions.changes(0, 10**6)
        assert changes.count == changes.through == len(standing)
