"""Both clients against the real gateway, repository and log."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import shapely

import geocast
from geocast.client import AsyncClient, Client, Notification
from geocast.errors import ConflictError, ServiceError
from geocast.model import Right
from tests.client.both import make_client
from tests.client.service import Service, running

SQUARE = shapely.box(-5, -5, 5, 5)
FAR = shapely.box(50, 50, 60, 60)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with running(tmp_path_factory.mktemp("service")) as found:
        yield found


@pytest.fixture
def client(service: Service, kind: str) -> Iterator[Client]:
    """A client of an account of the test's own."""
    name = f"t{time.monotonic_ns()}"
    token = service.token(name, Right.PUBLISH, Right.SUBSCRIBE)
    with make_client(kind, service.url, token) as found:
        yield found


def take(notifications: Any, count: int) -> list[Notification]:
    found: list[Notification] = []
    for notification in notifications:
        found.append(notification)
        if len(found) == count:
            break
    return found


def test_publish_subscribe_be_notified(client: Client) -> None:
    subscription = client.subscribe(SQUARE, "within", properties={"name": "home"}).wait_active()
    far = client.subscribe(FAR).wait_active()
    assert subscription.status == "active"
    assert subscription.facts.activated is not None
    assert subscription.facts.properties == {"name": "home"}
    receipt = client.publish(shapely.Point(1, 2), {"mag": 4.5}, id="quake")
    [notification] = take(subscription, 1)
    assert (notification.publication, notification.kind) == ("quake", "match")
    assert notification.subscription == subscription.id
    assert notification.publisher == client.me().name
    assert notification.feature is not None
    assert notification.feature["properties"] == {"mag": 4.5}
    assert notification.published == receipt.published
    assert 0 <= notification.delay < 30
    assert list(far.listen(timeout=0.3)) == []


def test_what_was_consumed_does_not_come_again(client: Client) -> None:
    subscription = client.subscribe(SQUARE).wait_active()
    client.publish_many([(shapely.Point(n / 10, 0), {"n": n}) for n in range(30)], chunk=7)
    first = take(subscription, 10)
    others = take(client.subscription(subscription.id), 21)
    assert others[0].id == first[-1].id
    assert len({each.id for each in first + others}) == 30
    assert [each.cursor for each in others] == sorted(each.cursor for each in others)
    assert [each.id for each in client.notifications()] == [others[-1].id]
    assert client.acknowledge(others[-1]) == 1
    assert client.notifications() == []


def test_a_second_loop_goes_on(client: Client) -> None:
    subscription = client.subscribe(SQUARE).wait_active()
    client.publish_many([shapely.Point(n / 10, 0) for n in range(20)])
    found = take(subscription, 5) + list(subscription.listen(timeout=1.0))
    assert len({each.id for each in found}) == len(found) == 20
    assert client.notifications() == []


def test_acknowledging_by_hand(client: Client) -> None:
    subscription = client.subscribe(SQUARE).wait_active()
    client.publish_many([shapely.Point(n / 10, 0) for n in range(5)])
    assert len(take(client.listen(acknowledge=False), 5)) == 5
    assert subscription.acknowledge() == 0
    found = take(subscription.listen(acknowledge=False), 3)
    assert subscription.acknowledge(found[0]) == 1
    assert subscription.acknowledge() == 2
    left = client.notifications(subscription=subscription.id)
    assert len(left) == 2
    assert client.acknowledge(through=left[-1].cursor) == 2


def test_listening_to_all(client: Client) -> None:
    subscriptions = [client.subscribe(area).wait_active().id for area in (SQUARE, FAR)]
    client.publish_many([shapely.Point(0, 0), shapely.Point(55, 55)])
    found = list(client.listen(timeout=1.0))
    assert {each.subscription for each in found} == set(subscriptions)
    after = found[0].cursor
    assert take(client.listen(after=after, timeout=0.3), 9) == []


def test_a_withdrawal(client: Client) -> None:
    subscription = client.subscribe(SQUARE).wait_active()
    client.publish(shapely.Point(0, 0), id="x")
    [match] = take(subscription, 1)
    done = client.unpublish("x")
    assert (done["known"], done["notices"]) == (True, 1)
    [withdrawal] = take(subscription, 1)
    assert (withdrawal.kind, withdrawal.match) == ("withdrawal", match.match)
    with pytest.raises(ServiceError, match="no publication 'y'"):
        client.unpublish("y")


def test_what_was_published_is_known(client: Client) -> None:
    feature: dict[str, Any] = {"type": "Feature", "geometry": None, "properties": {}}
    mixed: list[Any] = [shapely.Point(0, 0), feature, (shapely.Point(0, 99), {}), 7]
    assert not client.publish(shapely.Point(0, 0), id="x").duplicate
    assert client.publish(shapely.Point(0, 0), id="x").duplicate
    receipts = client.publish_many(mixed)
    assert [receipt.accepted for receipt in receipts] == [True, False, False, False]
    with pytest.raises(ServiceError, match="geometry") as caught:
        client.publish(feature)
    assert caught.value.status == 422


def test_subscriptions(client: Client) -> None:
    made = client.subscribe(SQUARE, "within", "mag >= 3", id="a/b ü").wait_active()
    with pytest.raises(ConflictError, match="a/b ü"):
        client.subscribe(SQUARE, id="a/b ü")
    found = client.subscription("a/b ü")
    assert found.facts == made.facts
    assert (found.facts.predicate, found.facts.filter) == ("within", "mag >= 3")
    changed = client.change("a/b ü", FAR)
    assert changed.facts.version == 2
    for n in range(5):
        client.subscribe(SQUARE, id=f"s{n}")
    ids = {each.id for each in client.subscriptions(page=2)}
    assert ids == {"a/b ü", "s0", "s1", "s2", "s3", "s4"}
    assert {each.id for each in client.subscriptions((49, 49, 51, 51))} == {"a/b ü"}
    client.unsubscribe("a/b ü")
    with pytest.raises(ServiceError, match="no subscription 'a/b ü'"):
        client.subscription("a/b ü")


def test_a_subscription_that_cannot_be_is_refused_with_the_reason(client: Client) -> None:
    for wish, reason in [
        ({"geometry": SQUARE, "predicate": "near"}, "near"),
        ({"filter": "mag >"}, "filter refused"),
        ({"geometry": SQUARE, "webhook": "http://127.0.0.1/"}, "127.0.0.1"),
    ]:
        with pytest.raises(ServiceError, match=reason) as caught:
            client.subscribe(**wish)
        assert caught.value.status == 422


def test_who_may_do_what(service: Service, client: Client) -> None:
    with pytest.raises(ServiceError, match="'admin'") as caught:
        client.status()
    assert caught.value.status == 403
    with pytest.raises(ServiceError) as caught, Client(service.url, "gct_wrong") as stranger:
        stranger.publish(shapely.Point(0, 0))
    assert caught.value.status == 401


def test_administration(service: Service, kind: str) -> None:
    admin = service.token(f"admin-{kind}", Right.ADMIN)
    name = f"new-{kind}"
    with make_client(kind, service.url, admin) as client:
        assert client.add_account(name, ["publish"]).rights == {"publish"}
        with pytest.raises(ConflictError):
            client.add_account(name, ["publish"])
        assert name in [account.name for account in client.accounts()]
        with Client(service.url, client.issue_token(name, "test")) as other:
            assert other.me().name == name
            other.publish(shapely.Point(0, 0))
        assert client.status()["ready"]
        client.remove_account(name)
        with pytest.raises(ServiceError, match="no account"):
            client.remove_account(name)


def test_a_stream_of_somebody_elses_subscription_is_refused(client: Client) -> None:
    with pytest.raises(ServiceError, match="no subscription 'theirs'") as caught:
        next(client.listen(subscription="theirs"))
    assert caught.value.status == 404


def test_restarts_of_the_service_lose_and_repeat_nothing(tmp_path: Path, kind: str) -> None:
    count, rounds = 60, 3
    with running(tmp_path) as service:
        token = service.token("alice", Right.PUBLISH, Right.SUBSCRIBE)
        published: list[str] = []

        def publish() -> None:
            with Client(service.url, token, retries=20) as client:
                for n in range(count):
                    published.append(str(client.publish(shapely.Point(0, n / 100)).id))
                    time.sleep(0.02)

        def restart() -> None:
            for _ in range(rounds):
                time.sleep(0.3)
                service.stop()
                service.start()

        with make_client(kind, service.url, token) as client:
            subscription = client.subscribe(SQUARE).wait_active()
            threads = [threading.Thread(target=task) for task in (publish, restart)]
            for thread in threads:
                thread.start()
            found = take(subscription, count) + list(subscription.listen(timeout=1.0))
            for thread in threads:
                thread.join()
        assert len(found) == count
        assert {each.publication for each in found} == set(published)
        assert [each.cursor for each in found] == sorted(each.cursor for each in found)


def test_many_streams_and_tasks_of_one_client(service: Service) -> None:
    async def follow(subscription: geocast.client.AsyncSubscription, count: int) -> set[str]:
        found: set[str] = set()
        async for notification in subscription:
            found.add(notification.publication)
            if len(found) == count:
                break
        return found

    async def run(token: str) -> None:
        async with AsyncClient(service.url, token) as client:
            subscriptions = [await client.subscribe(SQUARE) for _ in range(30)]
            for subscription in subscriptions:
                await subscription.wait_active()
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(follow(each, 20)) for each in subscriptions]
                receipts = await client.publish_many(points())
        published = {receipt.id for receipt in receipts}
        assert all(task.result() == published for task in tasks)

    async def points() -> Any:
        for n in range(20):
            yield shapely.Point(0, n / 10)

    asyncio.run(run(service.token("many", Right.PUBLISH, Right.SUBSCRIBE)))


def test_a_task_that_is_cancelled_acknowledges_what_it_consumed(service: Service) -> None:
    async def run(token: str) -> None:
        async with AsyncClient(service.url, token) as client:
            subscription = await client.subscribe(SQUARE)
            await subscription.wait_active()
            await client.publish_many([shapely.Point(0, 0), shapely.Point(1, 1)])
            found: list[str] = []

            async def collect() -> None:
                async for notification in subscription:
                    found.append(notification.publication)  # noqa: PERF401

            with pytest.raises(TimeoutError):
                await asyncio.wait_for(collect(), 2)
            assert len(found) == 2
        async with AsyncClient(service.url, token) as client:
            assert await client.notifications() == []

    asyncio.run(run(service.token("cancelled", Right.PUBLISH, Right.SUBSCRIBE)))


def test_limits_are_waited_out(tmp_path: Path) -> None:
    with running(tmp_path, request_rate=5.0) as service:
        token = service.token("alice", Right.PUBLISH)
        with Client(service.url, token) as client:
            ids = [client.publish(shapely.Point(0, 0)).id for _ in range(10)]
        assert len(set(ids)) == 10


def test_a_body_that_is_too_large_is_sent_in_halves(tmp_path: Path) -> None:
    with running(tmp_path, max_body=20_000) as service:
        token = service.token("alice", Right.PUBLISH)
        features = [
            (shapely.Point(0, 0), {"text": "x" * (30_000 if n == 7 else 1_000)}) for n in range(40)
        ]
        with Client(service.url, token) as client:
            receipts = client.publish_many(features)
        assert [receipt.index for receipt in receipts if not receipt.accepted] == [7]
        assert "20000 bytes" in str(receipts[7].reason)


def test_what_is_paused_is_not_waited_for(service: Service, client: Client) -> None:
    subscription = client.subscribe(SQUARE).wait_active()
    account = service.repository.accounts.get(client.me().name)
    assert account is not None
    service.repository.subscriptions.pause(account.number, subscription.id)
    with pytest.raises(ServiceError, match="is paused, not active"):
        subscription.wait_active(30)


def test_links(service: Service, client: Client) -> None:
    url, _, code = client.issue_link().partition("/#link=")
    assert url == service.url
    found = service.repository.links.redeem(code)
    assert found is not None
    with Client(service.url, found[1]) as other:
        assert other.me().name == client.me().name
