"""Live sessions over a real repository."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from contextlib import aclosing
from typing import Any

import pytest

from geocast.deliver.live import LiveFeed
from geocast.errors import UnavailableError
from geocast.model import Kind, Notification
from tests.deliver.receiver import until
from tests.deliver.world import World


def run(session: Coroutine[Any, Any, None]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(30):
            await session

    asyncio.run(bounded())


async def collect(
    feed: LiveFeed, account: int, count: int, after: int = 0, subscription: str | None = None
) -> list[Notification]:
    """The first so many notifications of a session."""
    seen: list[Notification] = []
    async with aclosing(feed.notifications(account, after, subscription)) as batches:
        async for batch in batches:
            seen += batch
            if len(seen) >= count:
                break
    return seen


async def in_thread(call: Callable[..., Any], *args: Any, **named: Any) -> Any:
    return await asyncio.to_thread(call, *args, **named)


def test_many_sessions_see_their_own_rows_once_and_in_order(world: World) -> None:
    accounts = [world.account(f"account-{number}") for number in range(10)]
    subscriptions = [world.subscribe(account) for account in accounts]

    async def session() -> None:
        feed = LiveFeed(world.repository)
        tasks = [
            asyncio.create_task(collect(feed, account.number, 60))
            for account in accounts
            for _ in range(3)
        ]
        for _ in range(6):
            await in_thread(world.publish, *subscriptions, times=10)
            await asyncio.sleep(0.03)
        seen = await asyncio.gather(*tasks)
        await feed.close()
        for place, notifications in enumerate(seen):
            assert notifications == world.mail(accounts[place // 3])

    run(session())


def test_rows_from_before_come_first_and_batches_are_bounded(world: World) -> None:
    subscription = world.subscribe()
    published = world.publish(subscription, times=25)

    async def session() -> None:
        feed = LiveFeed(world.repository, limit=10)
        sizes, seen = [], []
        async with aclosing(feed.notifications(world.reader.number)) as batches:
            async for batch in batches:
                sizes.append(len(batch))
                seen += [notification.publication for notification in batch]
                if len(seen) == 25:
                    break
        assert sizes == [10, 10, 5]
        assert seen == published

    run(session())


def test_a_session_resumes_by_its_cursor(world: World) -> None:
    subscription = world.subscribe()
    published = world.publish(subscription, times=20)

    async def session() -> None:
        feed = LiveFeed(world.repository, limit=7)
        first = await collect(feed, world.reader.number, 7)
        rest = await collect(feed, world.reader.number, 13, after=first[-1].cursor)
        assert [one.publication for one in first + rest] == published

    run(session())


def test_a_session_of_one_subscription_sees_nothing_else(world: World) -> None:
    mine, other = world.subscribe(), world.subscribe()

    async def session() -> None:
        feed = LiveFeed(world.repository)
        task = asyncio.create_task(collect(feed, world.reader.number, 2, subscription=mine.id))
        await asyncio.sleep(0.05)
        await in_thread(world.publish, other, times=3)
        wanted = await in_thread(world.publish, mine, other, times=2)
        seen = await task
        assert [(one.publication, one.subscription) for one in seen] == [
            (publication, mine.id) for publication in wanted
        ]

    run(session())


class Counter:
    """Counts the calls of a method, and passes them on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, owner: object, name: str) -> None:
        self.calls = 0
        self._call = getattr(owner, name)
        monkeypatch.setattr(owner, name, self)

    def __call__(self, *args: Any, **named: Any) -> Any:
        self.calls += 1
        return self._call(*args, **named)


def test_one_poller_for_all_and_none_for_nobody(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = Counter(monkeypatch, world.repository.mailbox, "latest")
    reads = Counter(monkeypatch, world.repository.mailbox, "read")

    async def session() -> None:
        feed = LiveFeed(world.repository, period=0.02)
        await asyncio.sleep(0.2)
        assert looks.calls == 0
        began = time.monotonic()
        tasks = [asyncio.create_task(collect(feed, world.reader.number, 1)) for _ in range(50)]
        while feed.sessions < 50 or looks.calls < 10:
            await asyncio.sleep(0.01)
        assert looks.calls <= (time.monotonic() - began) / 0.02 + 2
        assert reads.calls <= 100
        await cancelled(tasks)
        await asyncio.sleep(0.1)
        before = looks.calls
        await asyncio.sleep(0.2)
        assert looks.calls == before
        assert feed.sessions == 0

    run(session())


async def cancelled(tasks: list[asyncio.Task[list[Notification]]]) -> None:
    for task in tasks:
        task.cancel()
    ends = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(isinstance(end, asyncio.CancelledError) for end in ends)


def test_cancellation_leaves_nothing_behind(world: World) -> None:
    subscription = world.subscribe()

    async def session() -> None:
        feed = LiveFeed(world.repository)
        for pause in (0.0, 0.01, 0.05):
            tasks = [asyncio.create_task(collect(feed, world.reader.number, 9)) for _ in range(5)]
            await asyncio.sleep(pause)
            await cancelled(tasks)
        await asyncio.sleep(0.1)
        assert asyncio.all_tasks() == {asyncio.current_task()}
        task = asyncio.create_task(collect(feed, world.reader.number, 1))
        await in_thread(world.publish, subscription)
        assert len(await task) == 1

    run(session())


def test_silence_gives_empty_batches_if_asked_for(world: World) -> None:
    async def session() -> None:
        feed = LiveFeed(world.repository)
        async with aclosing(feed.notifications(world.reader.number, heartbeat=0.05)) as batches:
            assert [await anext(batches) for _ in range(3)] == [[], [], []]

    run(session())


def test_news_of_other_subscriptions_do_not_fill_the_silence(world: World) -> None:
    mine, other = world.subscribe(), world.subscribe()

    async def publish() -> None:
        while True:
            await in_thread(world.publish, other)
            await asyncio.sleep(0.02)

    async def session() -> None:
        feed = LiveFeed(world.repository, period=0.01)
        publishing = asyncio.create_task(publish())
        found = feed.notifications(world.reader.number, 0, mine.id, heartbeat=0.3)
        async with aclosing(found) as batches, asyncio.timeout(5):
            assert [await anext(batches) for _ in range(2)] == [[], []]
        publishing.cancel()
        await asyncio.gather(publishing, return_exceptions=True)
        await feed.close()

    run(session())


def test_closing_ends_all_sessions(world: World) -> None:
    async def session() -> None:
        feed = LiveFeed(world.repository)
        tasks = [asyncio.create_task(collect(feed, world.reader.number, 1)) for _ in range(5)]
        await asyncio.sleep(0.1)
        await feed.close()
        assert await asyncio.gather(*tasks) == [[]] * 5
        assert await collect(feed, world.reader.number, 1) == []

    run(session())


def test_a_failing_look_is_tried_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    subscription = world.subscribe()
    mailbox = world.repository.mailbox
    latest, failures = mailbox.latest, iter(range(1))

    def fails_once() -> int:
        if next(failures, None) is not None:
            raise OSError("disk on fire")
        return latest()

    async def session() -> None:
        monkeypatch.setattr(mailbox, "latest", fails_once)
        feed = LiveFeed(world.repository)
        task = asyncio.create_task(collect(feed, world.reader.number, 1))
        await asyncio.sleep(0.1)
        await in_thread(world.publish, subscription)
        assert len(await task) == 1

    run(session())


def test_what_comes_between_the_first_read_and_the_first_look_is_seen(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    subscription = world.subscribe()
    mailbox = world.repository.mailbox
    reads = Counter(monkeypatch, mailbox, "read")
    latest, published = mailbox.latest, iter(range(1))

    def late() -> int:
        if next(published, None) is not None:
            until(lambda: reads.calls > 0)
            time.sleep(0.1)
            world.publish(subscription)
        return latest()

    async def session() -> None:
        monkeypatch.setattr(mailbox, "latest", late)
        assert len(await collect(LiveFeed(world.repository), world.reader.number, 1)) == 1

    run(session())


def test_what_was_yielded_counts_as_delivered(world: World) -> None:
    subscription = world.subscribe()
    seen_one, unseen_one = world.publish(subscription, times=2)

    async def session() -> None:
        feed = LiveFeed(world.repository, limit=1)
        [seen] = await collect(feed, world.reader.number, 1)
        assert seen.publication == seen_one

    run(session())
    mailbox = world.repository.mailbox
    assert mailbox.withdraw(world.publisher, seen_one).notices == 1
    assert mailbox.withdraw(world.publisher, unseen_one).notices == 0
    [notice] = world.mail()
    assert (notice.kind, notice.publication) == (Kind.WITHDRAWAL, seen_one)


def test_what_is_withdrawn_between_reading_and_marking_is_not_sent(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, third = world.publish(world.subscribe(), times=3)
    mailbox = world.repository.mailbox
    mark = mailbox.mark_delivered

    def withdraw_first(account: int, rows: list[Notification]) -> list[Notification]:
        mailbox.withdraw(world.publisher, second)
        return mark(account, rows)

    async def session() -> None:
        monkeypatch.setattr(mailbox, "mark_delivered", withdraw_first)
        seen = await collect(LiveFeed(world.repository), world.reader.number, 2)
        assert [one.publication for one in seen] == [first, third]

    run(session())
    assert {one.kind for one in world.mail()} == {Kind.MATCH}


def test_a_session_outlives_a_database_that_is_away(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    subscription = world.subscribe()
    world.publish(subscription, times=3)
    mailbox, failures = world.repository.mailbox, [True, False, True]
    read, mark = mailbox.read, mailbox.mark_delivered

    def fail(call: Callable[..., Any]) -> Callable[..., Any]:
        def called(*args: Any, **named: Any) -> Any:
            found = call(*args, **named)
            if failures:
                raise UnavailableError("away", undone=failures.pop())
            return found

        return called

    monkeypatch.setattr("geocast.deliver.live._ERROR_SECONDS", 0.01)
    monkeypatch.setattr(mailbox, "read", fail(read))
    monkeypatch.setattr(mailbox, "mark_delivered", fail(mark))

    async def session() -> None:
        feed = LiveFeed(world.repository)
        seen = await collect(feed, world.reader.number, 3)
        await feed.close()
        assert [one.publication for one in seen] == [f"event-0-{n}" for n in range(3)]

    run(session())
    assert failures == []
