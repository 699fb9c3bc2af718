"""Several processes deliver together: killed, stopped for a while, and judged."""

from __future__ import annotations

import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest

from geocast.log import SqliteLog
from geocast.operate import Place
from geocast.repository import Membership, Repository, Subscription
from geocast.repository.membership import LEASE_SECONDS
from tests.deliver.receiver import Receiver, receiving, until
from tests.deliver.team import team
from tests.deliver.world import World, record
from tests.postgres import Server

PARTITIONS = 4
HOOKS = 6


class Load:
    """Matches of every publication with all subscriptions, a batch every few milliseconds."""

    def __init__(self, log: SqliteLog, versions: list[int]) -> None:
        self._log = log
        self._versions = versions
        self.published: list[str] = []

    def write(self, batches: int, pause: float = 0.0) -> None:
        for _ in range(batches):
            batch = len(self.published) // PARTITIONS
            for partition in range(PARTITIONS):
                one = record(batch, self._versions, partition=partition)
                values = [(one.id, one.encode())]
                self._log.write(partition, values, query="q", batch=batch, source=partition)
                self.published.append(one.id)
            time.sleep(pause)


class Together:
    """How many posts a receiver answers at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._now = 0
        self.most = 0

    def __call__(self, before: int) -> int:
        with self._lock:
            self._now += 1
            self.most = max(self.most, self._now)
        time.sleep(0.002)
        with self._lock:
            self._now -= 1
        return 200


@contextmanager
def hooks(world: World) -> Iterator[tuple[list[tuple[Receiver, Together]], list[Subscription]]]:
    with ExitStack() as stack:
        counted = [Together() for _ in range(HOOKS)]
        receivers = [stack.enter_context(receiving(one)) for one in counted]
        subscriptions = [world.webhook(one.url)[1] for one in receivers]
        yield list(zip(receivers, counted, strict=True)), subscriptions


def judge(world: World, load: Load, plain: Subscription) -> None:
    """Each match is in the mailbox once, in the order of its partition."""
    told = [one.publication for one in world.mail() if one.subscription == plain.id]
    assert Counter(told) == Counter(load.published)
    for partition in range(PARTITIONS):
        start = f"event-{partition}-"
        mine = [name for name in told if name.startswith(start)]
        assert mine == [name for name in load.published if name.startswith(start)]


def repeated(receiver: Receiver) -> int:
    """How many posts were repetitions; every one has the id of the first."""
    ids = {(post.publication, post.headers["webhook-id"]) for post in receiver.posts}
    assert len(ids) == len(set(receiver.publications))
    return len(receiver.posts) - len(ids)


@pytest.mark.timeout(180)
def test_members_are_killed_and_stopped_and_nothing_is_lost_or_twice(
    tmp_path: Path, postgres: Server
) -> None:
    place = Place(tmp_path)
    log = SqliteLog.open(place.matches, PARTITIONS, unique_keys=False)
    with (
        postgres.database() as url,
        closing(World(url)) as world,
        closing(log),
        hooks(world) as hooked,
    ):
        receivers, subscriptions = hooked
        plain = world.subscribe()
        load = Load(log, [plain.vnumber, *(one.vnumber for one in subscriptions)])
        environment = {
            "GEOCAST_REPOSITORY": url,
            "GEOCAST_PARTITIONS": str(PARTITIONS),
            "GEOCAST_ALLOW_PRIVATE_WEBHOOKS": "true",
        }
        with team(tmp_path, environment, "a", "b", "c") as members:
            present = world.repository.members.present
            until(lambda: len(present("deliver")) == 3)
            load.write(30, 0.02)
            members.send("a", signal.SIGKILL)
            load.write(30, 0.02)
            members.start("d")
            members.send("b", signal.SIGSTOP)
            stopped = time.monotonic()
            load.write(30, 0.02)
            world_has(world, plain, load)
            print(f"all mail {time.monotonic() - stopped:.1f} s after a member was stopped")
            until(lambda: len(present("deliver")) == 2)
            members.send("b", signal.SIGCONT)
            load.write(30, 0.02)
            members.send("c", signal.SIGTERM)
            load.write(30, 0.02)
            until(lambda: all(set(load.published) <= set(r.publications) for r, _ in receivers))
            world_has(world, plain, load)
            until(lambda: len(present("deliver")) == 2)
        judge(world, load, plain)
        assert present("deliver") == [], "who stops in order says so"
        repetitions = [repeated(receiver) for receiver, _ in receivers]
        print("repeated posts", repetitions, "most at once", [one.most for _, one in receivers])
        assert sum(repetitions) < 0.1 * HOOKS * len(load.published)
        for receiver, together in receivers:
            first = list(dict.fromkeys(receiver.publications))
            assert len(first) == len(load.published)
            assert together.most <= 2, "beyond one only while a stopped member comes back"
        for name in "acd":
            assert "Traceback" not in members.journal(name).read_text()


def world_has(world: World, plain: Subscription, load: Load) -> None:
    mailbox, reader = world.repository.mailbox, world.reader.number
    until(lambda: mailbox.waiting(reader).get(plain.id, 0) >= len(load.published))


def test_who_was_killed_here_is_not_waited_for(tmp_path: Path, world: World) -> None:
    """On one machine a process that ended is known to have; a restart takes over at once."""
    log = SqliteLog.open(Place(tmp_path).matches, PARTITIONS, unique_keys=False)
    with closing(log):
        plain = world.subscribe()
        load = Load(log, [plain.vnumber])
        with team(tmp_path, {"GEOCAST_PARTITIONS": str(PARTITIONS)}, "a", "b") as members:
            load.write(5)
            world_has(world, plain, load)
            members.send("a", signal.SIGKILL)
            killed = time.monotonic()
            load.write(5)
            world_has(world, plain, load)
            taken = time.monotonic() - killed
        judge(world, load, plain)
    print(f"taken over in {taken:.1f} s")
    assert taken < LEASE_SECONDS


def test_a_share_in_use_is_given_up_when_its_use_ends(world: World) -> None:
    members = world.repository.members
    first, second = (Membership(members, {"mail": 2}) for _ in range(2))
    first.beat()
    second.beat()
    with first.using("mail") as mine:
        assert mine == {0, 1}
        for _ in range(2):
            first.beat()
            second.beat()
            assert [set(first.held("mail")), set(second.held("mail"))] == [{0}, set()]
    first.beat()
    second.beat()
    assert [set(first.held("mail")), set(second.held("mail"))] == [{0}, {1}]


def test_who_cannot_say_in_time_that_it_lives_holds_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    membership = Membership(world.repository.members, {"mail": 2})
    membership.beat()
    assert membership.held("mail") == {0, 1}
    later = time.monotonic() + LEASE_SECONDS - 1.0
    monkeypatch.setattr("geocast.repository.membership.time.monotonic", lambda: later)
    assert membership.held("mail") == frozenset()
    with membership.using("mail") as mine:
        assert mine == frozenset()
    membership.beat()
    assert membership.held("mail") == {0, 1}


def test_a_repository_that_is_away_is_no_end(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("geocast.repository.membership._BEAT_SECONDS", 0.02)
    members = world.repository.members
    beat, failures = members.beat, [OSError("away")] * 2

    def flaky(*args: object, **named: object) -> object:
        if failures:
            raise failures.pop()
        return beat(*args, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(members, "beat", flaky)
    with Membership(world.repository.members, {"mail": 2}) as membership:
        until(lambda: membership.held("mail") == {0, 1})
    assert caplog.text.count("cannot tell the other processes") == 2
    assert Repository.open(world.url).members.present("deliver") == []
