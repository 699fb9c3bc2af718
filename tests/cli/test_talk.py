"""The commands that talk to a service, against a real gateway."""

from __future__ import annotations

import json
import re
import signal
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import shapely

from geocast.cli.talk.status import _lines
from geocast.client import Client
from geocast.files import write_features
from tests.cli.shell import Shell, feature
from tests.client.service import Service

BOX = "-5,-5,5,5"
POINT = {"type": "Point", "coordinates": [1, 2]}


def test_publish_subscribe_listen(shell: Shell, tmp_path: Path) -> None:
    identifier = shell.subscribe("--bbox", BOX, "--predicate", "within", "--filter", "mag > 1")
    (tmp_path / "p.geojsonl").write_text(f"{feature('a', mag=2)}\n{feature('b', mag=3)}\n")
    out, err = shell.run("publish", str(tmp_path / "p.geojsonl"))
    assert out == []
    assert err[-1].startswith(f"{tmp_path / 'p.geojsonl'}: 2 published, 0 known, 0 rejected, in ")
    lines, _ = shell.run("listen", "--subscription", identifier, "--count", "2", "--timeout", "30")
    events = [json.loads(line) for line in lines]
    assert {event["subject"] for event in events} == {"a", "b"}
    assert all(event["data"]["subscription"] == identifier for event in events)
    assert shell.run("listen", "--timeout", "0.5") == ([], [])


def test_listen_says_when_too_few_came(shell: Shell) -> None:
    for count, words in (("1", "0 of 1 notification within"), ("2", "0 of 2 notifications within")):
        arguments = ("listen", "--count", count, "--timeout", "0.3")
        assert f"{words} 0.3 s" in shell.complaint(*arguments, status=1)


def test_listen_can_keep_what_it_shows(shell: Shell, typed: Any) -> None:
    shell.subscribe("--bbox", BOX)
    typed(feature("a"))
    shell.run("publish", "-")
    for _ in range(2):
        out, _ = shell.run("listen", "--count", "1", "--keep", "--timeout", "30")
        assert len(out) == 1
    cursor = str(json.loads(out[0])["geocastcursor"])
    assert shell.run("listen", "--after", cursor, "--timeout", "0.3")[0] == []


def test_listen_on_a_terminal(shell: Shell, typed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    identifier = shell.subscribe("--bbox", BOX)
    typed(feature("a\u009b31m", -1.5, 2.25))
    shell.run("publish", "-")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    [line], _ = shell.run("listen", "--count", "1", "--timeout", "30")
    moment, delay, unit, *rest = line.split()
    assert len(moment.split(":")) == 3
    assert 0 <= float(delay) < 30
    assert unit == "s"
    assert rest == ["a\ufffd31m", "2.250°N", "1.500°W", identifier]
    with shell.client() as client:
        client.unpublish("a\u009b31m")
    [line], _ = shell.run("listen", "--count", "1", "--timeout", "30")
    assert "withdrawn" in line


def test_an_interrupted_listen_has_acknowledged_what_it_showed(shell: Shell, typed: Any) -> None:
    shell.subscribe("--bbox", BOX)
    typed(feature("a"))
    shell.run("publish", "-")
    with shell.start("listen") as process:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["subject"] == "a"
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    assert (process.returncode, said) == (130, "geocast: interrupted\n")
    with shell.client() as client:
        assert client.notifications() == []


def test_unpublish(shell: Shell, typed: Any) -> None:
    typed(feature("a", 170, 80))
    shell.run("publish", "-")
    assert shell.run("unpublish", "a")[1] == [
        "a: withdrawn; 0 notifications removed, 0 notices sent"
    ]
    assert "no publication 'b'" in shell.complaint("unpublish", "b")


@pytest.mark.parametrize(
    ("seen", "unseen", "words"),
    [
        (1, 0, "0 notifications removed, 1 notice sent"),
        (0, 1, "1 notification removed, 0 notices sent"),
        (2, 2, "2 notifications removed, 2 notices sent"),
    ],
)
def test_unpublish_counts_what_it_did(
    service: Service, shell: Shell, typed: Any, seen: int, unseen: int, words: str
) -> None:
    account = service.repository.accounts.get(shell.name)
    assert account is not None
    x = 100 + 3 * seen + unseen
    names = [shell.subscribe("--bbox", f"{x},60,{x + 1},61") for _ in range(seen + unseen)]
    typed(feature("a", x + 0.5, 60.5))
    shell.run("publish", "-")
    end = time.monotonic() + 120
    while service.repository.mailbox.depth(account.number) < len(names):
        assert time.monotonic() < end, "nobody is notified"
        time.sleep(0.05)
    for name in names[:seen]:
        shell.run("listen", "--subscription", name, "--count", "1", "--timeout", "30")
    assert shell.run("unpublish", "a")[1] == [f"a: withdrawn; {words}"]


def test_where_an_area_can_come_from(shell: Shell, tmp_path: Path) -> None:
    area = shapely.box(0, 0, 1, 1)
    document = shapely.to_geojson(area)
    (tmp_path / "geometry.geojson").write_text(document)
    (tmp_path / "feature.json").write_text(
        f'{{"type":"Feature","geometry":{document},"properties":{{}}}}'
    )
    write_features(
        tmp_path / "area.parquet", [pa.table({"id": ["x"], "geometry": [shapely.to_wkb(area)]})]
    )
    write_features(
        tmp_path / "area.geojson", [pa.table({"id": ["x"], "geometry": [shapely.to_wkb(area)]})]
    )
    names = ("geometry.geojson", "feature.json", "area.parquet", "area.geojson")
    given = [document, area.wkt, *(str(tmp_path / name) for name in names)]
    for text in given:
        [identifier], _ = shell.run("subscribe", "--geometry", text)
        with shell.client() as client:
            found = client.subscription(identifier).facts.geometry
        assert shapely.equals(shapely.from_geojson(json.dumps(found)), area)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "needs a geometry, a filter, or both"),
        (["--bbox", "1,2,3"], "four numbers"),
        (["--bbox", "1,2,nan,4"], "not finite"),
        (["--bbox", "170,0,-170,1"], "W must be less than E"),
        (["--bbox", BOX, "--geometry", "POINT (1 2)"], "only one of them"),
        (["--geometry", "POLYGON ((0 0, 1"], "not WKT"),
        (["--geometry", "{"], "not JSON"),
        (["--geometry", '{"type":"FeatureCollection","features":[]}'], "has 0 features"),
        (["--geometry", "nowhere.geojson"], "nowhere.geojson: no such file"),
        (["--geometry", "POLYGON ((0 0, 1 1, 0 1, 1 0, 0 0))"], "geometry"),
        (["--bbox", BOX, "--predicate", "near"], "near"),
        (["--filter", "mag >"], "filter refused"),
        (["--bbox", BOX, "--webhook", "http://127.0.0.1/"], "127.0.0.1"),
    ],
)
def test_a_subscription_that_cannot_be(shell: Shell, arguments: list[str], words: str) -> None:
    assert words in shell.complaint("subscribe", *arguments)


def test_subscriptions_come_and_go(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    shell.subscribe("--bbox", BOX, "--id", "alps", "--filter", "mag > 3")
    assert "'alps' already" in shell.complaint("subscribe", "--bbox", BOX, "--id", "alps")
    [line], _ = shell.run("subscriptions")
    assert json.loads(line)["id"] == "alps"
    with monkeypatch.context() as patch:
        patch.setattr("sys.stdout.isatty", lambda: True)
        table = "\n".join(shell.run("subscriptions")[0])
    assert all(word in table for word in ("alps", "active", "mag > 3", "0.000°N 0.000°E"))
    assert shell.run("unsubscribe", "alps")[1] == ["alps: cancelled"]
    assert shell.run("subscriptions") == ([], [])
    made = shell.subscribe("--bbox", BOX, "--filter", "name = 'something long'")
    with monkeypatch.context() as patch:
        patch.setattr("sys.stdout.isatty", lambda: True)
        assert made in "\n".join(shell.run("subscriptions")[0])
    assert "no subscription 'alps'" in shell.complaint("unsubscribe", "alps")


def test_subscribe_and_listen(shell: Shell) -> None:
    arguments = ["subscribe", "--bbox", BOX, "--id", "here", "--listen"]
    with shell.start(*arguments) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stderr.readline() == "here\n"
        with shell.client() as client:
            client.subscription("here").wait_active()
            client.publish(POINT, id="x")
        assert json.loads(process.stdout.readline())["subject"] == "x"
        process.send_signal(signal.SIGINT)
        process.wait(30)


def test_accounts(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    name = f"new-{shell.name}"
    [token], err = shell.run("account", "add", name, "--rights", "publish, subscribe")
    assert err == [f"{name}: may publish, subscribe; its token, told only now:"]
    with Client(shell.url, token) as client:
        assert client.me().rights == {"publish", "subscribe"}
    [other], _ = shell.run("account", "token", name, "--label", "laptop")
    assert other != token
    listed = {row["name"]: row for row in map(json.loads, shell.run("account", "list")[0])}
    assert {name, shell.name} <= set(listed)
    created = listed[name]["created"]
    assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", created)
    with monkeypatch.context() as patch:
        patch.setattr("sys.stdout.isatty", lambda: True)
        [row] = [line for line in shell.run("account", "list")[0] if name in line]
    assert f"{created[:10]} {created[11:16]} UTC" in row
    assert "already" in shell.complaint("account", "add", name)
    assert shell.run("account", "remove", name)[1] == [f"{name}: removed"]
    assert "no account" in shell.complaint("account", "remove", name)
    assert "unknown right 'fly'" in shell.complaint("account", "add", "x", "--rights", "fly")


def test_status(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    [line], _ = shell.run("status")
    assert json.loads(line)["ready"] is True
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    text = "\n".join(shell.run("status")[0])
    assert f"{shell.url}, ready" in text
    assert "in 2 partitions" in text


def test_the_numbers_of_a_status_agree_with_their_words() -> None:
    def lines(number: int, finished: str | None) -> dict[str, str]:
        counts = {"publications": number, "matched": number, "matches": number, "rejected": 0}
        batch = {
            "batch": 7,
            "pinned": "2026-11-16T08:15:00.000250Z",
            "finished": finished,
            "counts": counts,
        }
        found = {
            "ready": True,
            "deployment": "d",
            "subscriptions": number,
            "snapshot": {"version": 3},
            "log": {"partitions": [{"start": 0, "end": 1}] * number},
            "mailbox": {"waiting": number},
            "dead_letters": number,
            "webhooks": {"active": number, "parked": 0},
            "streams": number,
            "batches": [batch],
        }
        return dict(_lines("http://here", found))

    one, two = lines(1, None), lines(2, "2026-11-16T08:15:01.500250Z")
    assert one["log"] == "1 publication in 1 partition"
    assert two["log"] == "2 publications in 2 partitions"
    assert one["mailbox"] == "1 notification waits to be acknowledged"
    assert two["mailbox"] == "2 notifications wait to be acknowledged"
    assert one["last batch"] == "7: since 2026-11-16 08:15 UTC, not finished"
    assert two["last batch"] == (
        "7: 2 publications, 2 matched, 2 matches, 0 rejected, in 1.50 s, 2026-11-16 08:15 UTC"
    )
    finished = lines(1, "2026-11-16T08:15:01.500250Z")["last batch"]
    assert finished.startswith("7: 1 publication, 1 matched, 1 match, 0 rejected, in 1.50 s")


def test_link(shell: Shell, service: Service) -> None:
    out, err = shell.run("link", "--minutes", "5")
    assert err == ["open it within 5 min, once:"]
    [address] = out
    url, _, code = address.partition("/#link=")
    assert url == service.url
    found = service.repository.links.redeem(code)
    assert found is not None
