"""Signing in by a link, once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from tests.gateway.served import Served, refusal, serving


def test_a_link_signs_in_once(served: Served, sue: httpx.Client, nobody: httpx.Client) -> None:
    answer = sue.post("/v1/links", json={})
    assert answer.status_code == 201
    left = datetime.fromisoformat(answer.json()["expires"]) - datetime.now(UTC)
    assert timedelta(minutes=9) < left <= timedelta(minutes=10)
    code = {"code": answer.json()["code"]}
    found = nobody.post("/v1/links/redeem", json=code).json()
    assert (found["account"], found["rights"]) == (served.account("sue").name, ["subscribe"])
    headers = {"Authorization": f"Bearer {found['token']}"}
    assert nobody.get("/v1/me", headers=headers).json()["name"] == found["account"]
    problem = refusal(nobody.post("/v1/links/redeem", json=code), 404)
    assert problem["detail"] == "the link is not known, is over, or was used already"


def test_how_long_it_is_good(alice: httpx.Client) -> None:
    answer = alice.post("/v1/links", json={"seconds": 60}).json()
    left = datetime.fromisoformat(answer["expires"]) - datetime.now(UTC)
    assert timedelta(0) < left <= timedelta(seconds=60)


@pytest.mark.parametrize("body", [{"seconds": 0}, {"seconds": 86_401}, {"seconds": "60"}, {"x": 1}])
def test_bad_wishes(alice: httpx.Client, body: dict[str, object]) -> None:
    refusal(alice.post("/v1/links", json=body), 422)


def test_codes_that_are_none(nobody: httpx.Client) -> None:
    refusal(nobody.post("/v1/links/redeem", json={"code": "nope"}), 404)
    for body in ({}, {"code": ""}, {"code": 7}, {"code": "x" * 101}):
        refusal(nobody.post("/v1/links/redeem", json=body), 422)


def test_a_link_needs_somebody(nobody: httpx.Client) -> None:
    refusal(nobody.post("/v1/links", json={}), 401)


def test_guesses_are_slowed_down(tmp_path: Path) -> None:
    with serving(tmp_path, request_rate=5) as served, served.client(None) as nobody:
        answers = [nobody.post("/v1/links/redeem", json={"code": str(k)}) for k in range(12)]
    assert answers[0].status_code == 404
    assert answers[-1].status_code == 429
    assert "retry-after" in answers[-1].headers
