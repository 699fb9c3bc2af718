from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from geocast.log import SqliteLog
from geocast.model import ACCOUNT_NAME
from geocast.operate import metrics
from tests.gateway.served import Served, point, refusal, serving, square


def test_alive(nobody: httpx.Client) -> None:
    assert nobody.get("/healthz").json() == {"status": "alive"}


def test_ready_once_the_pipeline_is(tmp_path: Path) -> None:
    mark = tmp_path / "pipeline-ready"
    with serving(tmp_path, mark.exists) as served, served.client(None) as nobody:
        problem = refusal(nobody.get("/readyz"), 503)
        reason = "is not running (it is starting, or being started again)"
        assert problem["errors"] == [{"where": "pipeline", "reason": reason}]
        mark.touch()
        answer = nobody.get("/readyz")
        assert (answer.status_code, answer.json()) == (200, {"status": "ready"})


def test_not_ready_without_a_log(tmp_path: Path) -> None:
    with serving(tmp_path) as served, served.client(None) as nobody:
        served.log.close()
        problem = refusal(nobody.get("/readyz"), 503)
        assert [fault["where"] for fault in problem["errors"]] == ["log"]
        assert nobody.get("/healthz").status_code == 200


def test_a_failure_is_a_problem_and_tells_nothing(tmp_path: Path) -> None:
    with serving(tmp_path) as served, served.client("paul") as paul:
        served.log.close()
        problem = refusal(paul.post("/v1/publications", json=point(id="a")), 500)
        assert problem["detail"] == "the service failed; its journal tells more"
        assert paul.get("/healthz").status_code == 200


def test_metrics(nobody: httpx.Client, alice: httpx.Client, served: Served) -> None:
    def value(name: str) -> float:
        text = nobody.get("/metrics").text
        found = re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE)
        return float(found[1]) if found else 0.0

    names = [
        "geocast_publications_total",
        'geocast_rejects_total{where="gateway"}',
        'geocast_notifications_total{channel="poll"}',
    ]
    before = [value(name) for name in names]
    alice.post("/v1/subscriptions", json=square("s"))
    alice.post("/v1/publications", json=point(id="m"))
    alice.post("/v1/publications", json=point(id="m"))
    alice.post("/v1/publications", json=point(200, 0))
    served.deliver([("n", ["s"])])
    alice.get("/v1/notifications")
    assert [value(name) for name in names] == [count + 1 for count in before]


def test_status(served: Served, alice: httpx.Client) -> None:
    alice.post("/v1/subscriptions", json=square("s"))
    served.repository.ledger.pin("match", 1, 7)
    served.repository.ledger.finish("match", 1, {0: (0, 5)}, {"matches": 3})
    served.repository.ledger.pin("match", 2, 8)
    status = alice.get("/v1/status").json()
    assert status["deployment"] == served.repository.deployment
    assert status["subscriptions"] == served.repository.subscriptions.count()
    assert [each["end"] for each in status["log"]["partitions"]] == served.log.ends()
    assert [(batch["batch"], batch["snapshot"]) for batch in status["batches"]] == [(2, 8), (1, 7)]
    assert status["batches"][0]["finished"] is None
    assert status["batches"][1]["ranges"] == {"0": [0, 5]}
    assert status["batches"][1]["counts"] == {"matches": 3}


def test_status_in_numbers(tmp_path: Path) -> None:
    with serving(tmp_path) as served, served.client("alice") as alice:
        before = alice.get("/v1/status").json()
        assert (before["publications"], before["batch_seconds"]) == (0, None)
        alice.post("/v1/publications", json=point(id="a"))
        alice.post("/v1/publications", json=point(200, 0))
        counted = metrics()
        counted.matches.inc(3)
        counted.matched_publications.inc(2)
        counted.notifications.labels(channel="mailbox").inc(4)
        time.sleep(1.1)
        for seconds in (0.25, 0.25, 0.25, 4.0):
            counted.delay.labels(channel="mailbox").observe(seconds)
        served.repository.ledger.pin("match", 1, 7)
        served.repository.ledger.finish("match", 1, {}, {})
        served.repository.ledger.pin("match", 2, 7)
        after = alice.get("/v1/status").json()
    changed = {name: after[name] - before[name] for name in ("matches", "processed")}
    assert changed == {"matches": 3, "processed": 2}
    assert after["notifications"] == before["notifications"] + 4
    assert after["rejects"]["gateway"] == before["rejects"].get("gateway", 0) + 1
    assert after["publications"] == 1
    assert after["delay"]["count"] == 4
    assert 0.2 <= after["delay"]["p50"] <= 0.3
    assert 3 <= after["delay"]["p99"] <= 5
    assert after["batches"][0]["seconds"] is None
    assert after["batch_seconds"] == after["batches"][1]["seconds"] >= 0


def test_nothing_there(nobody: httpx.Client) -> None:
    for path in ("/v1", "/v1/", "/v1/nothing", "/docs", "/v1/subscriptions/"):
        answer = nobody.get(path)
        refusal(answer, answer.status_code)
        assert answer.status_code in (401, 404, 422), path


def test_a_method_that_is_not_there(nobody: httpx.Client) -> None:
    answer = nobody.patch("/v1/publications")
    refusal(answer, 405)
    assert answer.headers["allow"] == "POST"


@pytest.mark.parametrize("path", ["/v1/me", "/healthz", "/openapi.json", "/nothing"])
def test_headers_of_every_answer(nobody: httpx.Client, path: str) -> None:
    headers = nobody.get(path).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    assert headers["referrer-policy"] == "no-referrer"
    assert "server" not in headers


def preflight(client: httpx.Client) -> httpx.Response:
    asked = {"Origin": "https://map.example", "Access-Control-Request-Method": "POST"}
    return client.options("/v1/publications", headers=asked)


def test_other_origins_are_shut_out_by_default(nobody: httpx.Client) -> None:
    assert "access-control-allow-origin" not in preflight(nobody).headers


def test_other_origins_where_they_are_allowed(tmp_path: Path) -> None:
    origins = "https://map.example, https://other.example"
    with serving(tmp_path, cors_origins=origins) as served, served.client(None) as nobody:
        answer = preflight(nobody)
        assert answer.status_code == 200
        assert answer.headers["access-control-allow-origin"] == "https://map.example"
        refused = nobody.get("/v1/me", headers={"Origin": "https://map.example"})
        assert refused.headers["access-control-allow-origin"] == "https://map.example"
        assert (
            "access-control-allow-origin"
            not in nobody.get("/v1/me", headers={"Origin": "https://evil.example"}).headers
        )


OPEN = ("/v1/client", "/v1/links/redeem")
"""What can be asked without a token."""


def references(value: Any) -> set[str]:
    if isinstance(value, dict):
        own = {value["$ref"]} if isinstance(value.get("$ref"), str) else set()
        return own.union(*map(references, value.values()))
    return set().union(*map(references, value)) if isinstance(value, list) else set()


@pytest.mark.parametrize("path", ["/openapi.json", "/asyncapi.json"])
def test_documents_have_all_that_they_refer_to(nobody: httpx.Client, path: str) -> None:
    document = nobody.get(path).json()
    found = references(document)
    assert len(found) > 20
    for reference in found:
        place = document
        for name in reference.removeprefix("#/").split("/"):
            place = place[name]


def test_the_openapi_document_has_every_route(nobody: httpx.Client) -> None:
    document = nobody.get("/openapi.json").json()
    operations = {
        f"{method.upper()} {path}" for path, item in document["paths"].items() for method in item
    }
    assert len(operations) == 37
    for path, item in document["paths"].items():
        for method, operation in item.items():
            assert operation["description"], (method, path)
            if path.startswith("/v1") and path not in OPEN:
                assert operation["security"] == [{"token": []}]
                assert {"401", "429"} <= set(operation["responses"])


def patterns(value: Any) -> set[str]:
    if isinstance(value, dict):
        own = {value["pattern"]} if isinstance(value.get("pattern"), str) else set()
        return own.union(*map(patterns, value.values()))
    return set().union(*map(patterns, value)) if isinstance(value, list) else set()


def test_the_openapi_document_has_the_patterns_that_refusals_put_in_words(
    nobody: httpx.Client,
) -> None:
    document = nobody.get("/openapi.json").json()
    accounts = document["paths"]["/v1/accounts"]["get"]
    one_account = document["paths"]["/v1/accounts/{name}"]["get"]
    new_account = document["components"]["schemas"]["NewAccount"]
    for place in (accounts["parameters"], one_account["parameters"], new_account):
        assert patterns(place) == {ACCOUNT_NAME}
    for path in ("/v1/subscriptions", "/v1/dead-letters"):
        assert r"^[0-9]{1,18}$" in patterns(document["paths"][path]["get"]["parameters"])


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/v1/subscriptions?cursor=x", "query.cursor: that is not the `next` of a page"),
        ("/v1/dead-letters?cursor=-1", "query.cursor: that is not the `next` of a page"),
        (
            "/v1/subscriptions?bbox=1,2,3",
            "query.bbox: four numbers are expected: west,south,east,north in degrees",
        ),
    ],
)
def test_what_misses_a_pattern_is_told_in_words(alice: httpx.Client, path: str, words: str) -> None:
    assert refusal(alice.get(path), 422)["detail"] == words


def test_the_log_is_the_real_one(served: Served) -> None:
    assert isinstance(served.log, SqliteLog)
