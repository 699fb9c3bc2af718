"""The live stream where subscriptions are divided: the same matches, whatever happens."""

from __future__ import annotations

import json
import time
from typing import Any

import numpy as np
import pytest
import shapely
from pyspark.sql import SparkSession

from geocast.match.partition.division import Divider
from geocast.model import publication_key
from geocast.pipeline import REPRESENTATIVES, balance, parse_name, variant_names
from geocast.repository import Wanted
from geocast.snapshot import SnapshotStore
from geocast.snapshot.part import label_of
from tests.oracle.spatial import PREDICATES
from tests.pipeline.test_live import Bench, bench, forget_last_commit, running

__all__ = ["bench"]

pytestmark = pytest.mark.spark

CELLS = 12
DIVIDED = [name for name in variant_names() if parse_name(name).divider(CELLS) is not None]
OTHERS = [name for name in DIVIDED if name not in REPRESENTATIVES]
KINDS = ("intersects", "within", "disjoint", "contains", "touches")
Areas = dict[str, tuple[Any, str]]


def some_areas(first: int, count: int) -> Areas:
    """Areas on a grid that cells, too, may be cut along."""
    rng = np.random.default_rng(first)
    corners = rng.integers(0, 20, (count, 2))
    sizes = rng.integers(1, 6, (count, 2))
    return {
        f"s{first + k:04d}": (
            shapely.box(*corner, *(corner + size)),
            KINDS[0] if rng.random() < 0.5 else str(rng.choice(KINDS)),
        )
        for k, (corner, size) in enumerate(zip(corners, sizes, strict=True))
    }


def some_events(first: int, count: int) -> dict[str, Any]:
    rng = np.random.default_rng([first, 7])
    events = {}
    for k in range(count):
        x, y = rng.integers(-2, 28, 2)
        box = shapely.box(x, y, x + rng.integers(1, 9), y + rng.integers(1, 9))
        events[f"e{first + k:04d}"] = shapely.Point(x, y) if rng.random() < 0.5 else box
    return events


def subscribe(bench: Bench, areas: Areas) -> None:
    wanted = [
        (name, Wanted(shapely.to_wkb(area), predicate, None, {}))
        for name, (area, predicate) in areas.items()
    ]
    bench.repository.subscriptions.add_many(bench.account.number, wanted)


def publish(bench: Bench, events: dict[str, Any]) -> None:
    records = []
    for name, geometry in events.items():
        feature = {"type": "Feature", "id": name, "geometry": geometry.__geo_interface__}
        text = json.dumps(feature | {"properties": {}}).encode()
        records.append((publication_key("bob", name), text))
    bench.log.append(records)


def expected(areas: Areas, events: dict[str, Any]) -> set[tuple[str, str]]:
    return {
        (event, name)
        for event, geometry in events.items()
        for name, (area, predicate) in areas.items()
        if PREDICATES[predicate](geometry, area)
    }


def names_of(bench: Bench) -> dict[int, str]:
    """The subscriptions that stand now, by the numbers of their versions."""
    standing = bench.repository.subscriptions.page(bench.account.number, limit=1000)
    return {subscription.vnumber: subscription.id for subscription in standing}


def found(bench: Bench) -> set[tuple[str, str]]:
    return bench.pairs(names_of(bench))


def divided_by(name: str) -> Divider | None:
    return parse_name(name).divider(CELLS)


def labels(bench: Bench) -> set[str | None]:
    version = SnapshotStore(bench.place.snapshots).latest()
    assert version is not None
    return {label_of(part) for part in version.parts}


def check_a_day(bench: Bench, spark: SparkSession, name: str) -> None:
    standing = some_areas(0, 200)
    subscribe(bench, standing)
    early, late = some_events(0, 40), some_events(100, 40)
    divider = divided_by(name)
    assert divider is not None
    with running(bench, spark, divider) as stream:
        assert labels(bench) == {divider.label}
        publish(bench, early)
        bench.log.append([(publication_key("bob", "bad"), b"no feature")])
        assert stream.drain(120)
        names = names_of(bench)
        for number in range(10):
            bench.repository.subscriptions.cancel(bench.account.number, f"s{number:04d}")
        more = some_areas(500, 20)
        subscribe(bench, more)
        bench.wait_active("s0519")  # changes count in order, so the cancellations do, too
        publish(bench, late)
    kept = {key: value for key, value in (standing | more).items() if key not in GONE}
    assert any(name in GONE for _, name in expected(standing, late)), "nothing would be missed"
    should = expected(standing, early) | expected(kept, late)
    assert bench.pairs(names | names_of(bench)) == should
    [letter] = bench.repository.dead_letters.page()
    assert letter.id == "bad"


GONE = {f"s{number:04d}" for number in range(10)}


@pytest.mark.parametrize("name", [name for name in REPRESENTATIVES if name in DIVIDED])
def test_subscriptions_come_and_go(bench: Bench, spark: SparkSession, name: str) -> None:
    check_a_day(bench, spark, name)


@pytest.mark.full
@pytest.mark.parametrize("name", OTHERS)
def test_subscriptions_come_and_go_otherwise(bench: Bench, spark: SparkSession, name: str) -> None:
    check_a_day(bench, spark, name)


def test_a_batch_that_runs_again_adds_nothing(bench: Bench, spark: SparkSession) -> None:
    areas, events = some_areas(0, 150), some_events(0, 30)
    subscribe(bench, areas)
    for _ in range(2):
        with running(bench, spark, divided_by("sPIS[QT]{QT}")):
            publish(bench, events)
        assert found(bench) == expected(areas, events)
        forget_last_commit(bench.place)


def test_another_algorithm_takes_over(bench: Bench, spark: SparkSession) -> None:
    areas = some_areas(0, 150)
    subscribe(bench, areas)
    everything: dict[str, Any] = {}
    for turn, name in enumerate(["RIsPS[HT]{KT}", "sPS{EG}", "RIS"]):
        divider = divided_by(name)
        with running(bench, spark, divider):
            events = some_events(100 * turn, 10)
            publish(bench, events)
            everything |= events
            deadline = time.monotonic() + 300
            while labels(bench) != {None if divider is None else divider.label}:
                assert time.monotonic() < deadline, f"parts are not made anew for {name}"
                time.sleep(0.1)
            again = some_events(100 * turn + 50, 10)
            publish(bench, again)
            everything |= again
    assert found(bench) == expected(areas, everything)


@pytest.mark.parametrize("name", ["sPIS[QT]{QT}", "RIsPS[HT]{KT}"])
def test_partitions_follow_their_loads(
    bench: Bench, spark: SparkSession, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(balance, "_BATCHES", 1)
    monkeypatch.setattr(balance, "_PLACES", 0)
    areas = some_areas(0, 150)
    subscribe(bench, areas)
    everything: dict[str, Any] = {}
    with running(bench, spark, divided_by(name)) as stream:
        first = parts(bench)
        deadline = time.monotonic() + 300
        turn = 0
        while parts(bench) == first:
            assert time.monotonic() < deadline, "the part is not made anew"
            hot = {f"h{turn}-{k}": shapely.Point(3 + k / 100, 4 + k / 90) for k in range(60)}
            events = some_events(10 * turn, 5) | hot
            everything |= events
            publish(bench, events)
            assert stream.drain(120)
            turn += 1
        late = some_events(5000, 40)
        everything |= late
        publish(bench, late)
    assert found(bench) == expected(areas, everything)


def parts(bench: Bench) -> tuple[str, ...]:
    version = SnapshotStore(bench.place.snapshots).latest()
    assert version is not None
    return version.parts
