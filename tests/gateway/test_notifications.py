from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.gateway.served import Served, point, refusal, square

PATH = "/v1/notifications"


@pytest.fixture
def mailbox(served: Served, alice: httpx.Client) -> httpx.Client:
    """Alice, with subscriptions s and t, and six notifications."""
    for name in ("s", "t"):
        assert alice.post("/v1/subscriptions", json=square(name)).status_code == 201
    served.deliver([("a", ["s", "t"]), ("b", ["s", "t"]), ("c", ["s", "t"])])
    return alice


def page(client: httpx.Client, **query: Any) -> dict[str, Any]:
    answer = client.get(PATH, params=query)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def named(found: dict[str, Any]) -> list[str]:
    return [n["data"]["subscription"] + n["subject"] for n in found["notifications"]]


def test_the_newest_first(mailbox: httpx.Client) -> None:
    found = page(mailbox, newest=True, subscription="s", limit=2)
    assert named(found) == ["sc", "sb"]
    assert found["cursor"] == found["notifications"][0]["geocastcursor"]


def test_a_notification_is_a_cloud_event(served: Served, mailbox: httpx.Client) -> None:
    found = page(mailbox, limit=1)
    [event] = found["notifications"]
    assert event["specversion"] == "1.0"
    assert event["type"] == "geocast.match.v1"
    assert event["source"] == f"/accounts/{served.account('alice').name}"
    assert event["geocastcursor"] == found["cursor"]
    assert event["data"]["feature"] == point(id="a")
    assert event["data"]["match"] == event["id"]


def test_pages(mailbox: httpx.Client) -> None:
    first = page(mailbox, limit=4)
    second = page(mailbox, limit=4, after=first["cursor"])
    assert named(first) + named(second) == ["sa", "ta", "sb", "tb", "sc", "tc"]
    last = page(mailbox, after=second["cursor"])
    assert (last["notifications"], last["cursor"]) == ([], second["cursor"])


def test_of_one_subscription(mailbox: httpx.Client) -> None:
    assert named(page(mailbox, subscription="t")) == ["ta", "tb", "tc"]


def test_of_a_subscription_that_is_cancelled(mailbox: httpx.Client) -> None:
    mailbox.delete("/v1/subscriptions/t")
    assert named(page(mailbox, subscription="t")) == ["ta", "tb", "tc"]


def test_of_no_subscription(mailbox: httpx.Client) -> None:
    refusal(mailbox.get(PATH, params={"subscription": "none"}), 404)
    refusal(mailbox.post(f"{PATH}/ack", json={"through": 1, "subscription": "none"}), 404)


@pytest.mark.parametrize(
    "query", ["after=-1", "after=x", "after=9223372036854775808", "limit=0", "limit=1001"]
)
def test_bad_queries(mailbox: httpx.Client, query: str) -> None:
    name = query.partition("=")[0]
    assert f"query.{name}" in refusal(mailbox.get(f"{PATH}?{query}"), 422)["detail"]


def test_acknowledge_up_to_a_cursor(mailbox: httpx.Client) -> None:
    cursor = page(mailbox, limit=4)["cursor"]
    answer = mailbox.post(f"{PATH}/ack", json={"through": cursor})
    assert (answer.status_code, answer.json()) == (200, {"acknowledged": 4})
    assert named(page(mailbox)) == ["sc", "tc"]
    assert mailbox.post(f"{PATH}/ack", json={"through": cursor}).json() == {"acknowledged": 0}


def test_acknowledge_of_one_subscription(mailbox: httpx.Client) -> None:
    cursor = page(mailbox)["cursor"]
    mailbox.post(f"{PATH}/ack", json={"through": cursor, "subscription": "s"})
    assert named(page(mailbox)) == ["ta", "tb", "tc"]


def test_acknowledge_single_ones(mailbox: httpx.Client) -> None:
    events = page(mailbox)["notifications"]
    cursors = [event["geocastcursor"] for event in events[1:3]]
    assert mailbox.post(f"{PATH}/ack", json={"cursors": cursors}).json() == {"acknowledged": 2}
    assert named(page(mailbox)) == ["sa", "tb", "sc", "tc"]


@pytest.mark.parametrize(
    "body",
    [
        {},
        [],
        {"through": "1"},
        {"through": -1},
        {"through": 1.5},
        {"through": True},
        {"through": 2**63},
        {"through": 1, "cursors": [1]},
        {"cursors": []},
        {"cursors": [], "subscription": "s"},
        {"cursors": 1},
        {"cursors": ["1"]},
        {"through": 1, "other": 1},
        {"subscription": "s"},
    ],
)
def test_bad_acknowledgements(mailbox: httpx.Client, body: Any) -> None:
    refusal(mailbox.post(f"{PATH}/ack", json=body), 422)
    assert len(page(mailbox)["notifications"]) == 6


@pytest.mark.parametrize("body", [b"", b'{"through":', b"\xff", b"[" * 50_000])
def test_unreadable_acknowledgements(mailbox: httpx.Client, body: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    answer = mailbox.post(f"{PATH}/ack", content=body, headers=headers)
    assert answer.status_code in (400, 422)
    refusal(answer, answer.status_code)


def test_my_numbers(mailbox: httpx.Client) -> None:
    me = mailbox.get("/v1/me").json()
    assert (me["subscriptions"], me["waiting"]) == (2, 6)


def test_counts(served: Served, alice: httpx.Client) -> None:
    for name in ("s", "t", "u"):
        alice.post("/v1/subscriptions", json=square(name))
    assert alice.get("/v1/notifications/counts").json() == {"subscriptions": {}}
    served.deliver([("a", ["s", "t"]), ("b", ["s"])])
    assert alice.get("/v1/notifications/counts").json() == {"subscriptions": {"s": 2, "t": 1}}
    alice.get("/v1/notifications")
    assert alice.get("/v1/notifications/counts").json() == {"subscriptions": {"s": 2, "t": 1}}
    alice.post("/v1/notifications/ack", json={"through": 2**62, "subscription": "s"})
    assert alice.get("/v1/notifications/counts").json() == {"subscriptions": {"t": 1}}
