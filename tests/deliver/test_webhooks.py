"""Webhooks end to end: a real repository, real servers that receive."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from geocast.deliver.webhooks import Webhooks
from geocast.operate import Settings
from tests.deliver.receiver import receiving, until
from tests.deliver.world import World


def settings(
    *, schedule: str = "0.1,0.2", timeout: float = 5.0, allow_private: bool = True
) -> Settings:
    return Settings(
        webhook_schedule=schedule, webhook_timeout=timeout, allow_private_webhooks=allow_private
    )


@contextmanager
def sending(webhooks: Webhooks) -> Iterator[None]:
    stop = threading.Event()
    thread = threading.Thread(target=lambda: asyncio.run(webhooks.run(stop)))
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(30)
        assert not thread.is_alive()


def test_what_waits_is_sent_in_order_and_acknowledged(world: World) -> None:
    with receiving() as receiver:
        _, subscription = world.webhook(receiver.url)
        published = world.publish(subscription, times=120)
        with sending(Webhooks(world.repository, settings())):
            until(lambda: not world.mail())
            published += world.publish(subscription, times=3)
            until(lambda: len(receiver.posts) == 123)
            until(lambda: not world.mail())
        assert receiver.publications == published
        assert len({post.connection for post in receiver.posts}) == 1


def test_mail_without_a_webhook_stays(world: World) -> None:
    with receiving() as receiver:
        endpoint, to_webhook = world.webhook(receiver.url)
        to_mailbox = world.subscribe()
        world.publish(to_mailbox, to_webhook, times=3)
        with sending(Webhooks(world.repository, settings())):
            until(lambda: len(receiver.posts) == 3 and len(world.mail()) == 3)
    assert {notification.subscription for notification in world.mail()} == {to_mailbox.id}
    assert world.endpoint(endpoint).last_status == 204


def test_the_schedule_is_kept_and_success_ends_it(world: World) -> None:
    with receiving(lambda before: 500 if before < 2 else 200) as receiver:
        endpoint, subscription = world.webhook(receiver.url)
        published = world.publish(subscription, times=3)
        with sending(Webhooks(world.repository, settings(schedule="0.3,0.6"))):
            until(lambda: not world.mail())
        posts = receiver.posts
        assert receiver.publications == [published[0]] * 2 + published
    assert len({post.headers["webhook-id"] for post in posts[:3]}) == 1
    assert posts[1].at - posts[0].at >= 0.3
    assert posts[2].at - posts[1].at >= 0.6
    now = world.endpoint(endpoint)
    assert (now.state, now.attempts, now.last_error, now.last_status) == ("active", 0, None, 200)


def test_after_the_schedule_it_is_parked_and_resume_sends_what_waited(world: World) -> None:
    healthy = threading.Event()
    with receiving(lambda before: 200 if healthy.is_set() else 503) as receiver:
        endpoint, subscription = world.webhook(receiver.url)
        published = world.publish(subscription, times=4)
        with sending(Webhooks(world.repository, settings())):
            until(lambda: world.endpoint(endpoint).state == "parked")
            assert receiver.publications == [published[0]] * 3
            assert world.endpoint(endpoint).last_error == "the receiver answered 503"
            assert world.endpoint(endpoint).last_status == 503
            published += world.publish(subscription)
            time.sleep(0.5)
            assert len(receiver.posts) == 3
            assert len(world.mail()) == 5
            healthy.set()
            assert world.repository.endpoints.resume(endpoint.account, endpoint.number)
            until(lambda: not world.mail())
        assert receiver.publications[3:] == published


def test_410_parks_at_once(world: World) -> None:
    with receiving(lambda before: 200 if before < 2 else 410) as receiver:
        endpoint, subscription = world.webhook(receiver.url)
        world.publish(subscription, times=5)
        with sending(Webhooks(world.repository, settings())):
            until(lambda: world.endpoint(endpoint).state == "parked")
            until(lambda: len(world.mail()) == 3)
        assert len(receiver.posts) == 3


def test_a_redirect_is_a_failure(world: World) -> None:
    with receiving(lambda before: 302) as receiver:
        endpoint, subscription = world.webhook(receiver.url)
        world.publish(subscription)
        with sending(Webhooks(world.repository, settings(schedule="0.05"))):
            until(lambda: world.endpoint(endpoint).state == "parked")
        assert [post.path for post in receiver.posts] == ["/hook", "/hook"]
    assert "redirects are not followed" in str(world.endpoint(endpoint).last_error)


def test_a_slow_and_a_dead_receiver_delay_nobody(world: World) -> None:
    release = threading.Event()

    def never(before: int) -> int:
        release.wait(30)
        return 200

    with socket.create_server(("127.0.0.1", 0)) as server:
        dead_url = f"http://127.0.0.1:{server.getsockname()[1]}/"
    with receiving(never) as slow, receiving() as quick:
        slow_endpoint, slow_subscription = world.webhook(slow.url)
        dead_endpoint, dead_subscription = world.webhook(dead_url)
        _, subscription = world.webhook(quick.url)
        published = world.publish(slow_subscription, dead_subscription, subscription, times=100)
        with sending(Webhooks(world.repository, settings(schedule="60", timeout=20))):
            until(lambda: len(quick.posts) == 100)
            assert quick.publications == published
            assert len(slow.posts) == 1
            until(lambda: world.endpoint(dead_endpoint).attempts == 1)
            assert "cannot connect" in str(world.endpoint(dead_endpoint).last_error)
            assert world.endpoint(slow_endpoint).attempts == 0
            release.set()
            until(lambda: len(slow.posts) == 100)
        assert slow.publications == published


def test_a_slow_receiver_runs_into_its_timeout(world: World) -> None:
    def too_slow(before: int) -> int:
        time.sleep(1.0 if before == 0 else 0.0)
        return 200

    with receiving(too_slow) as receiver:
        _, subscription = world.webhook(receiver.url)
        published = world.publish(subscription, times=2)
        with sending(Webhooks(world.repository, settings(timeout=0.3))):
            until(lambda: not world.mail())
        assert receiver.publications == [published[0], *published]


def test_what_is_accepted_is_acknowledged_while_the_next_post_hangs(world: World) -> None:
    release = threading.Event()

    def hangs_at_the_third(before: int) -> int:
        if before == 2:
            release.wait(30)
        return 200

    with receiving(hangs_at_the_third) as receiver:
        _, subscription = world.webhook(receiver.url)
        world.publish(subscription, times=3)
        with sending(Webhooks(world.repository, settings())):
            until(lambda: len(receiver.posts) == 3)
            until(lambda: len(world.mail()) == 1)
            release.set()
            until(lambda: not world.mail())


def test_a_restart_goes_on_where_the_schedule_was(world: World) -> None:
    with receiving(lambda before: 500) as receiver:
        endpoint, subscription = world.webhook(receiver.url)
        world.publish(subscription)
        with sending(Webhooks(world.repository, settings(schedule="0.1,60"))):
            until(lambda: world.endpoint(endpoint).attempts == 2)
        waiting = world.endpoint(endpoint)
        with sending(Webhooks(world.repository, settings(schedule="0.1,60"))):
            time.sleep(0.5)
        assert len(receiver.posts) == 2
        assert world.endpoint(endpoint) == waiting


def test_orderly_restarts_lose_and_repeat_nothing(world: World) -> None:
    with receiving() as receiver:
        _, subscription = world.webhook(receiver.url)
        published = world.publish(subscription, times=300)
        for target in (50, 150):
            with sending(Webhooks(world.repository, settings())):
                until(lambda target=target: len(receiver.posts) >= target)  # type: ignore[misc]
        with sending(Webhooks(world.repository, settings())):
            until(lambda: not world.mail())
        assert receiver.publications == published


PROCESS = """
import asyncio, sys, threading
from geocast.deliver import Webhooks
from geocast.operate import Settings
from geocast.repository import Repository
webhooks = Webhooks(Repository.open(sys.argv[1]), Settings(allow_private_webhooks=True))
asyncio.run(webhooks.run(threading.Event()))
"""


def test_kill_9_loses_nothing_and_repeats_only_with_the_same_id(world: World) -> None:
    with receiving() as receiver:
        _, subscription = world.webhook(receiver.url)
        published = world.publish(subscription, times=300)
        for target in (40, 120):
            process = subprocess.Popen([sys.executable, "-c", PROCESS, world.url])
            until(lambda target=target: len(receiver.posts) >= target)  # type: ignore[misc]
            process.kill()
            process.wait()
        assert len(world.mail()) > 0
        with sending(Webhooks(world.repository, settings())):
            until(lambda: not world.mail())
        first_seen = list(dict.fromkeys(receiver.publications))
        ids = {(post.publication, post.headers["webhook-id"]) for post in receiver.posts}
    assert first_seen == published
    assert len(ids) == len(published)


def test_a_url_and_a_secret_can_be_changed(world: World) -> None:
    with receiving() as receiver:
        endpoint, subscription = world.webhook(receiver.url, secret="one")
        with sending(Webhooks(world.repository, settings())):
            world.publish(subscription)
            until(lambda: not world.mail())
            world.repository.endpoints.put(endpoint.account, endpoint.url, "")
            world.publish(subscription)
            until(lambda: world.endpoint(endpoint).state == "parked")
    assert "secret" in str(world.endpoint(endpoint).last_error)
    assert len(world.mail()) == 1


def test_private_addresses_are_refused_and_shown(world: World) -> None:
    with receiving() as receiver:
        literal, first = world.webhook(receiver.url)
        named, second = world.webhook(f"http://harmless.example:{receiver.server_port}/")
        world.publish(first, second)

        async def lookup(host: str, port: int) -> Sequence[str]:
            return ["127.0.0.1"]

        guarded = settings(schedule="0.05", allow_private=False)
        with sending(Webhooks(world.repository, guarded, lookup=lookup)):
            until(lambda: world.endpoint(literal).state == "parked")
            until(lambda: world.endpoint(named).state == "parked")
        assert receiver.posts == []
    assert "not a public address" in str(world.endpoint(literal).last_error)
    assert "not public" in str(world.endpoint(named).last_error)


def test_a_withdrawn_publication_is_not_sent_and_a_sent_one_gets_a_notice(world: World) -> None:
    with receiving() as receiver:
        _, subscription = world.webhook(receiver.url)
        sent, unsent = world.publish(subscription, times=2)
        world.repository.mailbox.withdraw(world.publisher, unsent)
        with sending(Webhooks(world.repository, settings())):
            until(lambda: not world.mail())
            world.repository.mailbox.withdraw(world.publisher, sent)
            until(lambda: len(receiver.posts) == 2)
        events = [post.event for post in receiver.posts]
    assert [event["subject"] for event in events] == [sent, sent]
    assert [event["type"] for event in events] == ["geocast.match.v1", "geocast.withdrawal.v1"]
    assert events[0]["id"] != events[1]["id"]


def test_stopping_lets_a_post_end_and_begins_no_other(world: World) -> None:
    def slow(before: int) -> int:
        time.sleep(1.0)
        return 200

    with receiving(slow) as receiver:
        _, subscription = world.webhook(receiver.url)
        world.publish(subscription, times=10)
        with sending(Webhooks(world.repository, settings(timeout=20))):
            until(lambda: len(receiver.posts) == 1)
        assert len(world.mail()) == 10 - len(receiver.posts)
        assert len(receiver.posts) <= 2


def test_stopping_with_nothing_to_do(world: World) -> None:
    with sending(Webhooks(world.repository, settings())):
        assert world.mail() == []
