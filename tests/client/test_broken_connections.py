"""Both clients over real sockets that break."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from geocast.client import Client
from geocast.errors import ServiceError
from tests.client.both import make_client
from tests.client.events import sse
from tests.client.rough import RoughService

SIZE = len(sse(1))


def take(client: Client, count: int, **options: Any) -> list[int]:
    found: list[int] = []
    for notification in client.listen(**options):
        found.append(notification.cursor)
        if len(found) == count:
            break
    return found


@pytest.mark.parametrize("chunked", [True, False])
def test_nothing_is_lost_or_repeated(kind: str, chunked: bool) -> None:
    mishaps = [SIZE * 2 + 7, "hang up", SIZE - 1, "503", 0, SIZE * 3, "end"]
    with RoughService(20, mishaps, chunked=chunked) as service:
        with make_client(kind, service.url, "gct_x") as client:
            assert take(client, 20) == list(range(1, 21))
        assert service.positions == [0, 2, 2, 2, 2, 2, 5]
        assert sorted(service.acknowledged) == list(range(1, 20))


def test_a_restart_of_the_service(kind: str) -> None:
    with RoughService(3, []) as service, make_client(kind, service.url, "gct_x") as client:
        found: list[int] = []
        for notification in client.listen():
            found.append(notification.cursor)
            if len(found) == 3:
                service.stop()
                service.waiting += [4, 5]
                threading.Timer(0.7, service.start).start()
            if len(found) == 5:
                break
    assert found == [1, 2, 3, 4, 5]
    assert sorted(service.acknowledged) == [1, 2, 3, 4]


def test_a_loop_ends_when_it_is_quiet_for_long_enough(kind: str) -> None:
    with RoughService(3, [SIZE]) as service, make_client(kind, service.url, "gct_x") as client:
        start = time.monotonic()
        assert take(client, 9, timeout=0.6) == [1, 2, 3]
        assert 0.6 <= time.monotonic() - start < 3
        assert sorted(service.acknowledged) == [1, 2, 3]


def test_without_acknowledging(kind: str) -> None:
    with RoughService(3, []) as service, make_client(kind, service.url, "gct_x") as client:
        for _ in range(2):
            assert take(client, 9, timeout=0.3, acknowledge=False) == [1, 2, 3]
        assert service.acknowledged == []


def test_closing_the_client_acknowledges_what_was_consumed(kind: str) -> None:
    with RoughService(3, []) as service:
        with make_client(kind, service.url, "gct_x") as client:
            notifications = client.listen()
            assert [next(notifications).cursor for _ in range(3)] == [1, 2, 3]
        assert sorted(service.acknowledged) == [1, 2]


def test_patience_ends(kind: str) -> None:
    with (
        RoughService(1, []) as service,
        make_client(kind, service.url, "gct_x", patience=0.5) as client,
    ):
        notifications = client.listen()
        assert next(notifications).cursor == 1
        service.stop()
        with pytest.raises(ServiceError, match=rf"{service.url} cannot be reached"):
            next(notifications)


def test_a_service_that_is_not_there(kind: str) -> None:
    with RoughService(1, []) as service:
        url = service.url
    with (
        make_client(kind, url, "gct_x", retries=1) as client,
        pytest.raises(ServiceError, match="cannot be reached"),
    ):
        next(client.listen())
