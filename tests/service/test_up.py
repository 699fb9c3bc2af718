"""`geocast up`, as a user has it: one command, then the others talk to it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import httpx
import psutil
import pytest

from geocast.bench.service import ServiceUnderTest
from geocast.repository import Repository

pytestmark = pytest.mark.service

ALPS = {"type": "Polygon", "coordinates": [[[5, 44], [15, 44], [15, 48], [5, 48], [5, 44]]]}
INSIDE = {"type": "Point", "coordinates": [8.5, 47.4]}


def geocast(service: ServiceUnderTest, *words: str, text: str = "") -> str:
    """Run a command beside the service's directory, as docs/quickstart.md does."""
    environment = {**os.environ, "GEOCAST_URL": service.url}
    done = subprocess.run(
        [sys.executable, "-m", "geocast", *words],
        input=text,
        capture_output=True,
        text=True,
        cwd=service.place.root.parent,
        env=environment,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_says_what_it_starts_and_how_to_try_it(service: ServiceUnderTest) -> None:
    deadline = time.monotonic() + 60
    while "Ctrl-C" not in (said := service.last_words()) and time.monotonic() < deadline:
        time.sleep(0.1)
    for word in ("starting the gateway", "starting Spark", "is ready", "admin-token", "subscribe"):
        assert word in said
    assert f":{service.port}" in said


def test_only_the_owner_can_read_the_first_token(service: ServiceUnderTest) -> None:
    assert service.place.admin_token.stat().st_mode & 0o777 == 0o600
    assert service.token.encode() not in (service.place.root / "repository.sqlite").read_bytes()


def test_a_second_service_in_the_same_directory_is_refused(service: ServiceUnderTest) -> None:
    again = subprocess.run(
        [sys.executable, "-m", "geocast", "up", "--data", str(service.place.root)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert again.returncode == 1
    assert re.search(r"the data directory .* is in use by process \d+", again.stderr)


def test_subscribe_publish_listen_withdraw(service: ServiceUnderTest) -> None:
    box = ["--id", "alps", "--bbox", "5,44,15,48.5", "--filter", "mag >= 2"]
    geocast(service, "subscribe", *box)
    with service.client() as client:
        client.subscription("alps").wait_active()
    strong = {"type": "Feature", "id": "strong", "geometry": INSIDE, "properties": {"mag": 3.1}}
    weak = {"type": "Feature", "id": "weak", "geometry": INSIDE, "properties": {"mag": 1.0}}
    geocast(service, "publish", "-", text=json.dumps(strong) + "\n" + json.dumps(weak) + "\n")
    geocast(service, "publish", "-", text=json.dumps(strong))
    lines = geocast(service, "listen", "--subscription", "alps", "--count", "1").splitlines()
    assert [json.loads(line)["subject"] for line in lines] == ["strong"]
    geocast(service, "unpublish", "strong")
    lines = geocast(service, "listen", "--subscription", "alps", "--count", "1").splitlines()
    assert [json.loads(line)["type"] for line in lines] == ["geocast.withdrawal.v1"]
    assert "alps" in geocast(service, "subscriptions")
    assert "snapshot" in geocast(service, "status").lower()
    geocast(service, "unsubscribe", "alps")


def test_the_link_that_it_prints_signs_in(service: ServiceUnderTest) -> None:
    found = re.search(rf"open {service.url}/#link=(\S+) to see the map", service.last_words())
    assert found
    with httpx.Client(base_url=service.url, trust_env=False) as http:
        answer = http.post("/v1/links/redeem", json={"code": found[1]}).json()
    with service.client(answer["token"]) as client:
        assert client.me().name == answer["account"] == "admin"


def test_what_is_paused_matches_nothing(service: ServiceUnderTest) -> None:
    headers = {"Authorization": f"Bearer {service.token}"}
    path = "/v1/subscriptions/now-and-then"
    with (
        service.client() as client,
        closing(Repository.open(service.place.repository)) as repository,
        httpx.Client(base_url=service.url, headers=headers, trust_env=False) as http,
    ):
        account = repository.accounts.get("admin")
        assert account is not None
        client.subscribe(ALPS, id="now-and-then").wait_active()
        client.publish(INSIDE, id="first")
        service.wait_idle(60)
        assert http.post(f"{path}/pause").json()["properties"]["geocast"]["status"] == "paused"
        wait_for(lambda: _removed(repository, account.number, "now-and-then"))
        client.publish(INSIDE, id="second")
        http.put(path, json={"type": "Feature", "geometry": ALPS, "properties": {}})
        client.publish(INSIDE, id="third")
        service.wait_idle(60)
        http.post(f"{path}/resume")
        client.subscription("now-and-then").wait_active()
        client.publish(INSIDE, id="fourth")
        service.wait_idle(60)
        found = http.get("/v1/notifications", params={"subscription": "now-and-then"}).json()
        versions = [one["data"]["version"] for one in found["notifications"]]
        assert [one["subject"] for one in found["notifications"]] == ["first", "fourth"]
        assert versions == [1, 3]
        client.unsubscribe("now-and-then")


def _removed(repository: Repository, account: int, name: str) -> bool:
    return repository.subscriptions.history(account, name)[-1].removed_snapshot is not None


def wait_for(check: Callable[[], bool], seconds: float = 30.0) -> None:
    deadline = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < deadline, "it does not happen"
        time.sleep(0.05)


def test_metrics_add_up_all_processes(service: ServiceUnderTest) -> None:
    with service.client() as client:
        standing = client.subscribe(ALPS).wait_active()
        client.publish(INSIDE)
        assert next(iter(standing)).kind == "match"
        standing.unsubscribe()
    text = httpx.get(f"{service.url}/metrics").text
    for name in (
        "geocast_publications_total",
        "geocast_processed_publications_total",
        "geocast_matches_total",
        'geocast_notifications_total{channel="mailbox"}',
        'geocast_notifications_total{channel="sse"}',
        'geocast_delay_seconds_count{channel="sse"}',
        "geocast_batch_seconds_count",
        "geocast_snapshot_version",
    ):
        found = re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE)
        assert found, f"{name} is not in /metrics"
        assert float(found[1]) > 0, name


def test_a_process_that_dies_is_started_again(service: ServiceUnderTest) -> None:
    before = {process.pid for process in service.processes()["deliver"]}
    assert service.kill("deliver")
    deadline = time.monotonic() + 240
    while not {process.pid for process in service.processes()["deliver"]} - before:
        assert time.monotonic() < deadline, "it is not started again"
        time.sleep(0.1)
    with service.client() as client:
        standing = client.subscribe(ALPS).wait_active()
        client.publish(INSIDE)
        assert next(iter(standing)).kind == "match"
        standing.unsubscribe()


def test_it_stops_in_order_and_goes_on_where_it_stopped(service: ServiceUnderTest) -> None:
    with service.client() as client:
        client.subscribe(ALPS, id="kept").wait_active()
        receipts = client.publish_many(
            [{"type": "Feature", "geometry": INSIDE, "properties": {}}] * 50
        )
    running = [process for found in service.processes().values() for process in found]
    service.stop()
    assert psutil.wait_procs(running, timeout=10)[1] == []
    service.start()
    service.wait_ready()
    with service.client() as client:
        waiting = client.notifications(limit=100, subscription="kept")
        assert {told.publication for told in waiting} == {receipt.id for receipt in receipts}
        assert len(waiting) == 50
        client.publish(INSIDE, id="after")
        heard = client.listen(subscription="kept", after=waiting[-1].cursor)
        assert next(heard).publication == "after"


def test_journals_are_objects_line_by_line(service: ServiceUnderTest) -> None:
    for name in ("gateway", "pipeline", "deliver"):
        lines = (service.place.journal / f"{name}.log").read_text().splitlines()
        assert {json.loads(line)["process"] for line in lines if line.startswith("{")} == {name}


def test_the_quickstart_names_commands_that_exist() -> None:
    page = (Path(__file__).parents[2] / "docs" / "quickstart.md").read_text()
    commands = set(re.findall(r"^geocast (\w+)|\| geocast (\w+)", page, re.MULTILINE))
    assert len(commands) >= 6
    for first, second in commands:
        done = subprocess.run(
            [sys.executable, "-m", "geocast", first or second, "--help"],
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, first or second
