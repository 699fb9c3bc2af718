"""Pausing and resuming a subscription."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from geocast.model import now
from tests.gateway.served import Served, refusal, square


def state(answer: httpx.Response) -> tuple[str, int]:
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()["properties"]["geocast"]
    return found["status"], found["version"]


def snapshot(served: Served) -> list[int]:
    """Let a snapshot have all changes; return the numbers of versions that it has."""
    subscriptions = served.repository.subscriptions
    version, after = subscriptions.snapshot_at()
    through = subscriptions.changes(after, 100_000).through
    subscriptions.activate(version + 1, after, through, now())
    return [
        int(one) for table in subscriptions.standing(through) for one in table["id"].to_pylist()
    ]


def vnumber(served: Served, name: str) -> int:
    found = served.repository.subscriptions.get(served.account("alice").number, name)
    assert found is not None
    return found.vnumber


@pytest.mark.parametrize("name", ["s", "a/b", "x/pause"])
def test_paused_and_resumed(served: Served, alice: httpx.Client, name: str) -> None:
    made = alice.post("/v1/subscriptions", json=square(name, filter="a > 1", note="mine"))
    path = made.headers["location"]
    assert vnumber(served, name) in snapshot(served)
    paused = alice.post(f"{path}/pause")
    assert state(paused) == ("paused", 1)
    assert paused.json() == alice.get(path).json()
    assert vnumber(served, name) not in snapshot(served)
    assert state(alice.post(f"{path}/pause")) == ("paused", 1)
    resumed = alice.post(f"{path}/resume")
    assert state(resumed) == ("pending", 2)
    asked = made.json()["properties"]
    assert resumed.json()["geometry"] == made.json()["geometry"]
    assert {**resumed.json()["properties"], "geocast": 0} == {**asked, "geocast": 0}
    assert vnumber(served, name) in snapshot(served)
    assert state(alice.get(path)) == ("active", 2)
    assert state(alice.post(f"{path}/resume")) == ("active", 2)


def test_a_change_does_not_resume(served: Served, alice: httpx.Client) -> None:
    alice.post("/v1/subscriptions", json=square("s"))
    alice.post("/v1/subscriptions/s/pause")
    changed = alice.put("/v1/subscriptions/s", json=square(filter="a > 2"))
    assert state(changed) == ("paused", 2)
    assert vnumber(served, "s") not in snapshot(served)
    resumed = alice.post("/v1/subscriptions/s/resume")
    assert state(resumed) == ("pending", 3)
    assert resumed.json()["properties"]["filter"] == "a > 2"
    assert vnumber(served, "s") in snapshot(served)


def test_it_keeps_its_id_and_its_mail(served: Served, alice: httpx.Client) -> None:
    alice.post("/v1/subscriptions", json=square("s"))
    served.deliver([("a", ["s"])])
    alice.post("/v1/subscriptions/s/pause")
    refusal(alice.post("/v1/subscriptions", json=square("s")), 409)
    assert alice.get("/v1/notifications/counts").json() == {"subscriptions": {"s": 1}}
    assert [one["id"] for one in alice.get("/v1/subscriptions").json()["features"]] == ["s"]
    assert alice.delete("/v1/subscriptions/s").status_code == 204
    refusal(alice.get("/v1/subscriptions/s"), 404)


def test_what_is_not_there(alice: httpx.Client) -> None:
    for what in ("pause", "resume"):
        refusal(alice.post(f"/v1/subscriptions/nothing/{what}"), 404)
