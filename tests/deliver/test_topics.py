"""From the repository to topics, with brokers that can be told to fail."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import orjson
import pytest

from geocast.deliver import topics as module
from geocast.deliver.topic_names import SHARES
from geocast.deliver.topics import TopicWriter
from geocast.errors import StateError
from geocast.log.kafka.subscribers import Message, SubscriberTopics
from geocast.repository import Endpoint, Subscription
from tests.deliver.world import World

TOPIC = "geocast.to.reader"


class Brokers:
    """Topics in memory, with the two calls that a writer makes."""

    def __init__(self) -> None:
        self.held: dict[str, list[Message]] = {}
        self.sizes: list[int] = []
        self.order: list[str] = []
        self.broken = ""

    def written(self, topic: str) -> int:
        if self.broken == "written":
            raise StateError("no broker answers")
        return self.held[topic][-1].cursor if topic in self.held else 0

    def write(self, messages: Mapping[str, Iterable[Message]]) -> None:
        if self.broken == "write":
            raise StateError("no broker answers")
        for topic, group in messages.items():
            taken = list(group)
            self.held.setdefault(topic, []).extend(taken)
            self.sizes.append(len(taken))
            self.order.append(topic)

    def close(self) -> None:
        pass


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.fixture
def brokers() -> Brokers:
    return Brokers()


@contextmanager
def running(world: World, brokers: Brokers) -> Iterator[TopicWriter]:
    """A writer until it has nothing to do any more."""
    stop = threading.Event()
    opened = cast(SubscriberTopics, brokers)
    writer = TopicWriter(world.repository, lambda _: opened)
    thread = threading.Thread(target=writer.run, args=(stop,))
    thread.start()
    try:
        yield writer
        deadline = threading.Event()
        for _ in range(400):
            if not world.repository.endpoints.active_with_mail():
                break
            deadline.wait(0.02)
    finally:
        stop.set()
        thread.join()


def subscribed(world: World, name: str = TOPIC) -> tuple[Endpoint, Subscription]:
    endpoint = world.repository.endpoints.put(world.reader.number, f"kafka:{name}", "s")
    return endpoint, world.subscribe(endpoint=endpoint)


def told(brokers: Brokers, topic: str = TOPIC) -> list[tuple[str, str, str]]:
    events: list[dict[str, Any]] = [orjson.loads(one.value) for one in brokers.held.get(topic, [])]
    return [
        (one["type"], one["subject"], match["subscription"])
        for one in events
        for match in one["data"]["matches"]
    ]


def test_each_once_in_order_and_acknowledged(world: World, brokers: Brokers) -> None:
    endpoint, one = subscribed(world)
    two, apart = world.subscribe(endpoint=endpoint), world.subscribe()
    ids = world.publish(one, two, apart, times=50)
    with running(world, brokers):
        pass
    names = [(i, s.id) for i in ids for s in (one, two)]
    assert [(event, name) for _, event, name in told(brokers)] == names
    cursors = [message.cursor for message in brokers.held[TOPIC]]
    assert cursors == sorted(set(cursors))
    left = world.repository.mailbox.read(world.reader.number, limit=200)
    assert [row.subscription for row in left] == [apart.id] * 50


def test_the_form_of_a_message(world: World, brokers: Brokers) -> None:
    endpoint, one = subscribed(world)
    two = world.subscribe(endpoint=endpoint)
    (name,) = world.publish(one, two)
    with running(world, brokers):
        pass
    world.repository.mailbox.withdraw(world.publisher, name)
    with running(world, brokers):
        pass
    match, withdrawal = brokers.held[TOPIC]
    told, taken_back = orjson.loads(match.value), orjson.loads(withdrawal.value)
    assert told["type"] == "geocast.matches.v1"
    assert (told["source"], told["subject"]) == (f"/accounts/{world.publisher.name}", name)
    assert told["geocastcursor"] == match.cursor
    matches = told["data"]["matches"]
    assert [(m["subscription"], m["version"]) for m in matches] == [(one.id, 1), (two.id, 1)]
    assert told["id"] == matches[0]["match"] != matches[1]["match"]
    assert told["data"]["feature"]["id"] == name
    assert match.key == f"{world.publisher.name}/{name}".encode() == withdrawal.key
    headers = dict(match.headers)
    assert headers["content-type"].startswith(b"application/cloudevents+json")
    assert headers["geocast-id"] == told["id"].encode()
    assert int(headers["geocast-published"]) > 0
    assert taken_back["type"] == "geocast.withdrawals.v1"
    assert taken_back["id"] == told["id"] + "-withdrawn"
    assert taken_back["data"]["matches"] == matches
    assert "feature" not in taken_back["data"]
    assert dict(withdrawal.headers)["geocast-id"] == taken_back["id"].encode()


def test_large_features_go_a_few_at_a_time(
    world: World, brokers: Brokers, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, one = subscribed(world)
    _, other = subscribed(world, "geocast.to.other")
    monkeypatch.setattr(module, "_MOST_BYTES", 1)
    ids = world.publish(one, other, times=5)
    with running(world, brokers):
        pass
    assert set(brokers.sizes) == {1}
    assert [event for _, event, _ in told(brokers)] == ids
    assert [event for _, event, _ in told(brokers, "geocast.to.other")] == ids


def test_an_event_with_very_many_matches_is_several_messages(
    world: World, brokers: Brokers, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint, one = subscribed(world)
    more = [world.subscribe(endpoint=endpoint) for _ in range(4)]
    monkeypatch.setattr(module, "_MOST_MATCHES", 2)
    ids = world.publish(one, *more, times=2)
    with running(world, brokers):
        pass
    assert brokers.sizes == [6]
    assert len({orjson.loads(message.value)["id"] for message in brokers.held[TOPIC]}) == 6
    names = [subscription.id for subscription in (one, *more)]
    assert [(event, name) for _, event, name in told(brokers)] == [
        (event, name) for event in ids for name in names
    ]


def test_a_topic_with_much_mail_does_not_keep_the_others_waiting(
    world: World, brokers: Brokers, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"geocast.to.r{k}" for k in range(2 * SHARES + 1)]
    subscriptions = {name: subscribed(world, name) for name in names}
    numbers: dict[int, list[str]] = {}
    for name, (endpoint, _) in subscriptions.items():
        numbers.setdefault(endpoint.number % SHARES, []).append(name)
    together = next(group for group in numbers.values() if len(group) == 3)
    busy, *others = together
    world.publish(subscriptions[busy][1], times=40)
    for name in others:
        world.publish(subscriptions[name][1])
    monkeypatch.setattr(module, "_MOST_AT_ONCE", 4)
    with running(world, brokers):
        pass
    assert [len(told(brokers, name)) for name in together] == [40, 1, 1]
    for name in others:
        assert brokers.order.index(name) < 6


def test_what_was_written_before_a_death_is_not_written_again(
    world: World, brokers: Brokers, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, one = subscribed(world)
    ids = world.publish(one, times=3)
    with monkeypatch.context() as patched:
        patched.setattr(world.repository.mailbox, "take_out", _die)
        stop = threading.Event()
        writer = TopicWriter(world.repository, lambda _: cast(SubscriberTopics, brokers))
        thread = threading.Thread(target=writer.run, args=(stop,))
        thread.start()
        while len(told(brokers)) < 3:
            stop.wait(0.01)
        stop.set()
        thread.join()
    ids += world.publish(one, times=2)
    with running(world, brokers):
        pass
    assert [event for _, event, _ in told(brokers)] == ids
    assert world.repository.mailbox.depth() == 0


def _die(*_: object) -> int:
    raise StateError("the disk is full")


def test_nothing_counts_as_seen_while_no_broker_answers(world: World, brokers: Brokers) -> None:
    _, one = subscribed(world)
    (first,) = world.publish(one)
    brokers.broken = "written"
    stop = threading.Event()
    writer = TopicWriter(world.repository, lambda _: cast(SubscriberTopics, brokers))
    thread = threading.Thread(target=writer.run, args=(stop,))
    thread.start()
    stop.wait(0.3)
    world.repository.mailbox.withdraw(world.publisher, first)
    (second,) = world.publish(one)
    brokers.broken = ""
    stop.wait(0.2)
    stop.set()
    thread.join()
    with running(world, brokers):
        pass
    assert told(brokers) == [("geocast.matches.v1", second, one.id)]


def test_a_withdrawal_comes_behind_its_match(world: World, brokers: Brokers) -> None:
    _, one = subscribed(world)
    (first,) = world.publish(one)
    with running(world, brokers):
        pass
    world.repository.mailbox.withdraw(world.publisher, first)
    with running(world, brokers):
        pass
    assert [kind for kind, _, _ in told(brokers)] == [
        "geocast.matches.v1",
        "geocast.withdrawals.v1",
    ]
