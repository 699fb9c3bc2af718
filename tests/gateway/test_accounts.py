from __future__ import annotations

from typing import Any
from urllib.parse import quote
from uuid import uuid4

import httpx
import pytest

from geocast.model import now, to_rfc3339
from tests.gateway.served import Served, refusal, square

PATH = "/v1/accounts"


@pytest.fixture
def name() -> str:
    return f"new-{uuid4().hex[:8]}"


def add(client: httpx.Client, name: str, *rights: str) -> dict[str, Any]:
    answer = client.post(PATH, json={"name": name, "rights": list(rights)})
    assert answer.status_code == 201, answer.text
    assert answer.headers["location"] == f"{PATH}/{name}"
    made: dict[str, Any] = answer.json()
    return made


def token(client: httpx.Client, name: str, **asked: Any) -> dict[str, Any]:
    answer = client.post(f"{PATH}/{name}/tokens", json=asked)
    assert answer.status_code == 201, answer.text
    issued: dict[str, Any] = answer.json()
    return issued


def me(served: Served, text: str) -> httpx.Response:
    headers = {"Authorization": f"Bearer {text}"}
    return httpx.get(f"{served.url}/v1/me", headers=headers, trust_env=False)


def test_an_account_and_its_token(served: Served, alice: httpx.Client, name: str) -> None:
    made = add(alice, name, "publish", "subscribe")
    assert made["rights"] == ["publish", "subscribe"]
    assert alice.get(f"{PATH}/{name}").json() == made
    issued = token(alice, name, label="laptop")
    assert issued["token"].startswith("gct_")
    found = me(served, issued["token"]).json()
    assert (found["name"], found["rights"]) == (name, ["publish", "subscribe"])
    [listed] = alice.get(f"{PATH}/{name}/tokens").json()["tokens"]
    assert (listed["number"], listed["label"], listed["expires"]) == (
        issued["number"],
        "laptop",
        None,
    )
    assert "token" not in listed


def test_a_revoked_token_is_no_longer_good(served: Served, alice: httpx.Client, name: str) -> None:
    add(alice, name)
    issued = token(alice, name)
    assert me(served, issued["token"]).status_code == 200
    path = f"{PATH}/{name}/tokens/{issued['number']}"
    assert alice.delete(path).status_code == 204
    refusal(me(served, issued["token"]), 401)
    refusal(alice.delete(path), 404)


def test_a_token_that_expires(served: Served, alice: httpx.Client, name: str) -> None:
    add(alice, name)
    later = to_rfc3339(now() + 3_600_000_000)
    issued = token(alice, name, expires=later)
    assert issued["expires"] == later
    assert me(served, issued["token"]).status_code == 200
    for past in (to_rfc3339(now() - 1), "2020-01-01T00:00:00Z", "2020-01-01", "soon", 7):
        answer = alice.post(f"{PATH}/{name}/tokens", json={"expires": past})
        assert "expires" in refusal(answer, 422)["detail"]


def test_rights_change_at_once(served: Served, alice: httpx.Client, name: str) -> None:
    add(alice, name, "admin")
    text = token(alice, name)["token"]
    assert me(served, text).json()["rights"] == ["admin"]
    changed = alice.put(f"{PATH}/{name}", json={"rights": ["publish"]})
    assert (changed.status_code, changed.json()["rights"]) == (200, ["publish"])
    assert me(served, text).json()["rights"] == ["publish"]


def test_a_removed_account(served: Served, alice: httpx.Client, name: str) -> None:
    add(alice, name, "subscribe")
    text = token(alice, name)["token"]
    headers = {"Authorization": f"Bearer {text}"}
    with httpx.Client(base_url=served.url, headers=headers, trust_env=False) as client:
        client.post("/v1/subscriptions", json=square("s"))
        assert alice.delete(f"{PATH}/{name}").status_code == 204
        refusal(client.get("/v1/subscriptions/s"), 401)
    refusal(alice.get(f"{PATH}/{name}"), 404)
    refusal(alice.delete(f"{PATH}/{name}"), 404)
    refusal(alice.put(f"{PATH}/{name}", json={"rights": []}), 404)
    refusal(alice.get(f"{PATH}/{name}/tokens"), 404)
    refusal(alice.post(f"{PATH}/{name}/tokens", json={}), 404)


def test_a_name_is_taken(alice: httpx.Client, name: str) -> None:
    add(alice, name)
    assert name in refusal(alice.post(PATH, json={"name": name, "rights": []}), 409)["detail"]


def test_nobody_locks_themselves_out(served: Served, alice: httpx.Client) -> None:
    own = served.account("alice").name
    refusal(alice.delete(f"{PATH}/{own}"), 409)
    refusal(alice.put(f"{PATH}/{own}", json={"rights": ["publish"]}), 409)
    assert alice.get("/v1/me").status_code == 200


def test_pages(alice: httpx.Client, name: str) -> None:
    made = {add(alice, f"{name}{k}")["name"] for k in range(3)}
    found: list[str] = []
    query: dict[str, Any] = {"limit": 2}
    while True:
        page = alice.get(PATH, params=query).json()
        found += [account["name"] for account in page["accounts"]]
        if page["next"] is None:
            break
        query["cursor"] = page["next"]
    assert found == sorted(found)
    assert made <= set(found)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"name": "x"},
        {"name": "X", "rights": []},
        {"name": "", "rights": []},
        {"name": "x" * 64, "rights": []},
        {"name": "a/b", "rights": []},
        {"name": "x", "rights": "admin"},
        {"name": "x", "rights": ["root"]},
        {"name": 3, "rights": []},
        {"name": "x", "rights": [], "more": 1},
    ],
)
def test_bad_accounts(alice: httpx.Client, body: Any) -> None:
    assert "body" in refusal(alice.post(PATH, json=body), 422)["detail"]


@pytest.mark.parametrize("bad", ["Bad Name!", "-a", "a" * 64, "a\n"])
@pytest.mark.parametrize("where", ["body.name", "path.name", "query.cursor"])
def test_a_bad_name_is_refused_in_words(alice: httpx.Client, bad: str, where: str) -> None:
    if where == "body.name":
        answer = alice.post(PATH, json={"name": bad, "rights": []})
    elif where == "path.name":
        answer = alice.put(f"{PATH}/{quote(bad)}", json={"rights": []})
    else:
        answer = alice.get(PATH, params={"cursor": bad})
    detail = refusal(answer, 422)["detail"]
    assert detail == (
        f"{where}: {bad!r} cannot be the name of an account: lower-case letters, digits, '.', "
        "'_' and '-', beginning with a letter or digit, at most 63"
    )


def test_a_refusal_does_not_repeat_a_name_without_end(alice: httpx.Client) -> None:
    answer = alice.post(PATH, json={"name": "x" * 100_000, "rights": []})
    assert len(refusal(answer, 422)["detail"]) < 300


def test_a_bad_label_is_refused_in_words(alice: httpx.Client, name: str) -> None:
    add(alice, name)
    answer = alice.post(f"{PATH}/{name}/tokens", json={"label": "a\0b"})
    assert refusal(answer, 422)["detail"] == "body.label: a label cannot have a NUL character"
