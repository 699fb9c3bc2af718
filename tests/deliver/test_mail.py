"""From the log of matches into mailboxes, over the real log and repository."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from geocast.deliver import housekeeping
from geocast.deliver.housekeeping import Housekeeper
from geocast.deliver.mail import Mailman
from geocast.errors import StateError
from geocast.log import SqliteLog
from geocast.model import MatchRecord, now
from geocast.operate import Settings, metrics
from tests.deliver.receiver import until
from tests.deliver.world import World, record

PARTITIONS = 2


@pytest.fixture
def log(tmp_path: Path) -> Iterator[SqliteLog]:
    log = SqliteLog.open(tmp_path / "matches", PARTITIONS, unique_keys=False)
    yield log
    log.close()


def write(log: SqliteLog, batch: int, records: list[MatchRecord]) -> None:
    """Write as the pipeline does: each partition's matches in one piece."""
    for partition in range(PARTITIONS):
        own = [(one.id, one.encode()) for one in records if one.partition == partition]
        log.write(partition, own, query="q", batch=batch, source=partition)


def matches(start: int, stop: int, versions: list[int]) -> list[MatchRecord]:
    return [
        record(offset, versions, partition=partition)
        for partition in range(PARTITIONS)
        for offset in range(start, stop)
    ]


def expected(records: list[MatchRecord], names: list[str]) -> Counter[tuple[str, str]]:
    return Counter((one.id, name) for one in records for name in names)


def found(world: World) -> Counter[tuple[str, str]]:
    return Counter((one.publication, one.subscription) for one in world.mail())


def test_every_match_reaches_its_mailbox_once(world: World, log: SqliteLog) -> None:
    subscriptions = [world.subscribe() for _ in range(3)]
    records = matches(0, 50, [one.vnumber for one in subscriptions])
    write(log, 0, records)
    mailman = Mailman(log, world.repository, max_records=20)
    assert [mailman.step() for _ in range(4)] == [40, 40, 20, 0]
    assert found(world) == expected(records, [one.id for one in subscriptions])
    assert Mailman(log, world.repository).step() == 0
    more = matches(50, 51, [subscriptions[0].vnumber])
    write(log, 1, more)
    assert mailman.step() == 2
    assert found(world)[more[0].id, subscriptions[0].id] == 1


def test_within_a_partition_the_order_is_that_of_the_log(world: World, log: SqliteLog) -> None:
    subscription = world.subscribe()
    records = matches(0, 30, [subscription.vnumber])
    write(log, 0, records)
    Mailman(log, world.repository, max_records=7).step()
    Mailman(log, world.repository).step()
    for partition in range(PARTITIONS):
        name = f"event-{partition}-"
        seen = [one.publication for one in world.mail() if one.publication.startswith(name)]
        assert seen == [one.id for one in records if one.partition == partition]


def test_what_was_withdrawn_never_shows(world: World, log: SqliteLog) -> None:
    subscription = world.subscribe()
    records = matches(0, 5, [subscription.vnumber])
    world.repository.mailbox.withdraw(world.publisher, records[2].id)
    write(log, 0, records)
    Mailman(log, world.repository).step()
    del records[2]
    assert found(world) == expected(records, [subscription.id])


def test_an_unreadable_record_goes_to_the_dead_letters(world: World, log: SqliteLog) -> None:
    subscription = world.subscribe()
    good = record(0, [subscription.vnumber])
    bad = [b"", b"\xff\x00", b"[]\n{}", b'{"partition": 1}\n{}', b"null\n"]
    values = [("k", value) for value in bad] + [("k", good.encode())]
    log.write(0, values, query="q", batch=0, source=0)
    assert Mailman(log, world.repository).step() == len(bad) + 1
    assert found(world) == expected([good], [subscription.id])
    letters = world.repository.dead_letters.page()
    assert [letter.value for letter in letters] == bad
    assert all("in the log of matches" in letter.reason for letter in letters)


def test_an_unreadable_record_gives_one_dead_letter_however_often_it_is_tried(
    world: World, log: SqliteLog
) -> None:
    unknown = record(0, [1_000_000])
    log.write(0, [("k", b"bad"), ("k", unknown.encode())], query="q", batch=0, source=0)
    mailman = Mailman(log, world.repository)
    for _ in range(2):
        with pytest.raises(StateError, match="no subscription version 1000000"):
            mailman.step()
    assert world.repository.dead_letters.page() == [], "nothing of what failed is kept"
    assert world.repository.mailbox.position("deliver", 0) == 0


def test_a_transaction_takes_a_bounded_number_of_matches(world: World, log: SqliteLog) -> None:
    versions = [world.subscribe().vnumber for _ in range(10)]
    sizes = [4, 4, 2, 1, 10, 3, 9]
    records = [record(offset, versions[:size]) for offset, size in enumerate(sizes)]
    values = [("k", one.encode()) for one in records]
    log.write(0, [*values[:2], ("k", b"bad"), *values[2:]], query="q", batch=0, source=0)
    mailman = Mailman(log, world.repository, max_matches=8)
    depths = []
    while mailman.step():
        depths.append(world.repository.mailbox.depth())
    assert depths == [8, 11, 21, 24, 33]
    assert world.repository.mailbox.position("deliver", 0) == len(values) + 1
    assert len(world.repository.dead_letters.page()) == 1


def test_a_log_that_ends_before_the_position_is_refused(world: World, log: SqliteLog) -> None:
    subscription = world.subscribe()
    world.repository.mailbox.deliver("deliver", 1, 0, 3, [])
    write(log, 0, matches(0, 2, [subscription.vnumber]))
    mailman = Mailman(log, world.repository)
    for _ in range(2):
        with pytest.raises(StateError, match=r"partition 1 .* ends at 2, but .* read up to 3"):
            mailman.step()


def test_records_that_are_gone_unread_are_noticed(world: World, log: SqliteLog) -> None:
    subscription = world.subscribe()
    write(log, 0, matches(0, 5, [subscription.vnumber]))
    log.expire(before=now() + 1, keep=[3, 3])
    with pytest.raises(StateError, match=r"partition 0 .* begins at 3: the records from 0 on"):
        Mailman(log, world.repository).step()
    assert world.mail() == []


def test_a_partition_that_fails_does_not_hold_up_the_others(
    world: World, log: SqliteLog, caplog: pytest.LogCaptureFixture
) -> None:
    subscription = world.subscribe()
    world.repository.mailbox.deliver("deliver", 0, 0, 999, [])
    records = matches(0, 200, [subscription.vnumber])
    write(log, 0, records)
    thread, stop = running(Mailman(log, world.repository, max_records=10))
    until(lambda: len(world.mail()) == 200, seconds=10)
    stop.set()
    thread.join()
    own = [one for one in records if one.partition == 1]
    assert found(world) == expected(own, [subscription.id])
    assert "ends at 200, but consumer 'deliver' has read up to 999" in caplog.text


class Flaky:
    """A log whose first reads fail."""

    partitions = PARTITIONS

    def __init__(self, log: SqliteLog, failures: int) -> None:
        self._log = log
        self.failures = failures
        self.ends = log.ends

    def read(self, partition: int, start: int, *, max_records: int) -> pa.RecordBatch:
        if self.failures:
            self.failures -= 1
            raise OSError("disk on fire")
        return self._log.read(partition, start, max_records=max_records)


def running(mailman: Mailman) -> tuple[threading.Thread, threading.Event]:
    stop = threading.Event()
    thread = threading.Thread(target=mailman.run, args=(stop,))
    thread.start()
    return thread, stop


def test_told_to_stop_it_hands_over_what_is_there(world: World, log: SqliteLog) -> None:
    subscription = world.subscribe()
    records = matches(0, 50, [subscription.vnumber])
    write(log, 0, records)
    stop = threading.Event()
    stop.set()
    Mailman(log, world.repository, max_records=5).run(stop)
    assert found(world) == expected(records, [subscription.id])


def test_errors_are_said_and_tried_again(
    world: World, log: SqliteLog, caplog: pytest.LogCaptureFixture
) -> None:
    subscription = world.subscribe()
    records = matches(0, 5, [subscription.vnumber])
    write(log, 0, records)
    flaky = Flaky(log, 3)
    thread, stop = running(Mailman(flaky, world.repository))  # type: ignore[arg-type]
    until(lambda: len(world.mail()) == 10)
    stop.set()
    thread.join()
    assert caplog.text.count("cannot fill mailboxes") == 3
    assert "disk on fire" in caplog.text


def test_two_at_once_repeat_nothing(world: World, log: SqliteLog) -> None:
    subscription = world.subscribe()
    records = matches(0, 200, [subscription.vnumber])
    pair = [running(Mailman(log, world.repository, max_records=5)) for _ in range(2)]
    for batch in range(10):
        write(log, batch, [one for one in records if one.offset // 20 == batch])
    until(lambda: len(world.mail()) >= len(records))
    for thread, stop in pair:
        stop.set()
        thread.join()
    assert found(world) == expected(records, [subscription.id])


PROCESS = """
import sys, threading
from pathlib import Path
from geocast.deliver.mail import Mailman
from geocast.log import SqliteLog
from geocast.repository import Repository
log = SqliteLog.open(Path(sys.argv[1]), int(sys.argv[2]), unique_keys=False)
repository = Repository.open(sys.argv[3])
print("runs", flush=True)
Mailman(log, repository, max_records=20).run(threading.Event())
"""


def test_kill_9_in_the_middle_loses_and_repeats_nothing(
    world: World, log: SqliteLog, tmp_path: Path
) -> None:
    subscriptions = [world.subscribe() for _ in range(3)]
    versions = [one.vnumber for one in subscriptions]
    records: list[MatchRecord] = []
    for kill in range(3):
        process = subprocess.Popen(
            [sys.executable, "-c", PROCESS, tmp_path / "matches", str(PARTITIONS), world.url],
            stdout=subprocess.PIPE,
        )
        assert process.stdout is not None
        assert process.stdout.readline() == b"runs\n"
        load = matches(kill * 1_000, kill * 1_000 + 1_000, versions)
        write(log, kill, load)
        records += load
        done = world.repository.mailbox.depth() + 300 * (kill + 1)
        until(lambda done=done: world.repository.mailbox.depth() >= done)  # type: ignore[misc]
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
    assert world.repository.mailbox.depth() < len(records) * len(versions)
    mailman = Mailman(log, world.repository)
    while mailman.step():
        continue
    assert found(world) == expected(records, [one.id for one in subscriptions])


def test_old_matches_are_dropped_but_never_unread_ones(world: World, log: SqliteLog) -> None:
    subscription = world.subscribe()
    records = matches(0, 20, [subscription.vnumber])
    write(log, 0, records)
    mailman = Mailman(log, world.repository, max_records=5)
    mailman.step()
    time.sleep(0.01)
    keeper = Housekeeper(log, world.repository, Settings(log_age=0.001))
    keeper.tidy()
    assert log.starts() == [5, 5]
    while mailman.step():
        continue
    assert found(world) == expected(records, [subscription.id])
    keeper.tidy()
    assert log.starts() == log.ends() == [20, 20]
    write(log, 1, matches(20, 21, [subscription.vnumber]))
    assert Mailman(log, world.repository).step() == 2


def test_matches_beyond_the_size_and_old_mail_are_dropped(world: World, log: SqliteLog) -> None:
    subscription = world.subscribe()
    write(log, 0, matches(0, 20, [subscription.vnumber]))
    mailman = Mailman(log, world.repository)
    mailman.step()
    Housekeeper(log, world.repository, Settings(log_size=1)).tidy()
    assert log.starts() == [20, 20]
    assert len(world.mail()) == 40
    time.sleep(0.01)
    Housekeeper(log, world.repository, Settings(mailbox_age=0.001)).tidy()
    assert world.mail() == []


def test_a_withdrawal_outlives_what_it_keeps_out(world: World, log: SqliteLog) -> None:
    subscription = world.subscribe()
    records = matches(0, 1, [subscription.vnumber])
    write(log, 0, records)
    mailbox = world.repository.mailbox
    mailbox.withdraw(world.publisher, records[0].id)
    time.sleep(0.01)
    Housekeeper(log, world.repository, Settings(mailbox_age=0.001, log_age=0.001)).tidy()
    assert mailbox.withdrawn([f"sensors/{records[0].id}"]), "its match is unread"
    while Mailman(log, world.repository).step():
        continue
    assert found(world) == expected(records[1:], [subscription.id])
    Housekeeper(log, world.repository, Settings(mailbox_age=0.001, log_age=60.0)).tidy()
    assert mailbox.withdrawn([f"sensors/{records[0].id}"]), "it may not be matched yet"
    Housekeeper(log, world.repository, Settings(mailbox_age=60.0, log_age=0.001)).tidy()
    assert mailbox.withdrawn([f"sensors/{records[0].id}"])
    Housekeeper(log, world.repository, Settings(mailbox_age=0.001, log_age=0.001)).tidy()
    assert not mailbox.withdrawn([f"sensors/{records[0].id}"])


def test_changes_go_when_a_snapshot_has_them(world: World, log: SqliteLog) -> None:
    world.subscribe()
    subscriptions = world.repository.subscriptions
    keeper = Housekeeper(log, world.repository, Settings())
    keeper.tidy()
    assert subscriptions.changes(0, 10).count == 1
    subscriptions.activate(1, 0, 1, now())
    keeper.tidy()
    with pytest.raises(StateError, match="changes after 0 are gone"):
        subscriptions.changes(0, 10)


def test_what_was_cancelled_is_forgotten_after_its_last_match(world: World, log: SqliteLog) -> None:
    subscription = world.subscribe()
    write(log, 0, matches(0, 1, [subscription.vnumber]))
    subscriptions = world.repository.subscriptions
    subscriptions.cancel(world.reader.number, subscription.id)
    subscriptions.activate(1, 0, 2, now())
    time.sleep(0.01)
    keeper = Housekeeper(log, world.repository, Settings(mailbox_age=0.001, log_age=0.001))
    keeper.forget()
    assert subscriptions.history(world.reader.number, subscription.id), "a match is unread"
    while Mailman(log, world.repository).step():
        continue
    assert len(world.mail()) == 2
    Housekeeper(log, world.repository, Settings()).forget()
    assert subscriptions.history(world.reader.number, subscription.id), "not old enough"
    time.sleep(0.01)
    keeper.tidy()
    keeper.forget()
    assert subscriptions.history(world.reader.number, subscription.id) == []


def test_it_tidies_and_forgets_again_and_again_whatever_fails(
    world: World, log: SqliteLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("_GAUGE_SECONDS", "_TIDY_SECONDS", "_FORGET_SECONDS"):
        monkeypatch.setattr(housekeeping, name, 0.01)
    calls: Counter[str] = Counter()
    stop = threading.Event()

    def work(name: str) -> None:
        calls[name] += 1
        if calls[name] == 1:
            raise StateError("at first, everything fails")
        if min(calls[name] for name in ("tidy", "forget")) > 2:
            stop.set()

    monkeypatch.setattr(Housekeeper, "tidy", lambda _: work("tidy"))
    monkeypatch.setattr(Housekeeper, "forget", lambda _: work("forget"))
    Housekeeper(log, world.repository, Settings()).run(stop)
    assert min(calls.values()) > 2


def test_the_gauges(world: World, log: SqliteLog) -> None:
    endpoint, subscription = world.webhook("https://example.com/")
    world.publish(subscription, times=7)
    world.repository.endpoints.park(endpoint.number, "no more")
    Housekeeper(log, world.repository, Settings()).measure()
    assert metrics().mailbox_depth._value.get() == 7
    assert metrics().parked_webhooks._value.get() == 1
