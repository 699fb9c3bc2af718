from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import shapely
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from geocast.errors import StateError
from geocast.log import SqliteLog
from geocast.match.partition.division import Divider
from geocast.model import Account, MatchRecord, Right, publication_key
from geocast.operate import Place, Settings
from geocast.pipeline.checkpoint import committed
from geocast.pipeline.keeper import SnapshotKeeper
from geocast.pipeline.live import QUERY, LiveStream
from geocast.pipeline.reach import Reach
from geocast.repository import Repository, Wanted
from geocast.snapshot import SnapshotStore, Version

pytestmark = pytest.mark.spark

PARTITIONS = 2
Found = set[tuple[str, str]]


@dataclass
class Bench:
    """A data directory, and what the other processes of a service would do to it."""

    place: Place
    repository: Repository
    log: SqliteLog
    matches: SqliteLog
    account: Account

    def subscribe(self, name: str, west: float, east: float, condition: str | None = None) -> None:
        area = shapely.to_wkb(shapely.box(west, 40, east, 42))
        wanted = Wanted(area, "intersects", condition, {})
        self.repository.subscriptions.add(self.account.number, name, wanted)

    def wait_active(self, name: str) -> None:
        deadline = time.monotonic() + 300
        while (found := self.repository.subscriptions.get(self.account.number, name)) is None or (
            found.status != "active"
        ):
            assert time.monotonic() < deadline, f"{name} does not become active"
            time.sleep(0.02)

    def publish(self, *names: str, lon: float = 1, level: int = 1) -> None:
        self.log.append(
            [(publication_key("bob", name), feature(name, lon, level)) for name in names]
        )

    def found(self) -> Found:
        """All pairs in the log of matches, where all subscriptions still stand."""
        return self.pairs(self._names())

    def pairs(self, names: dict[int, str]) -> Found:
        """All pairs in the log of matches; fails if one is there twice, or of another version."""
        pairs = []
        for partition, end in enumerate(self.matches.ends()):
            for value in self.matches.read(partition, 0, end).column("value").to_pylist():
                record = MatchRecord.decode(value)
                pairs += [(record.id, names[number]) for number in record.versions]
        assert len(pairs) == len(set(pairs))
        return set(pairs)

    def _names(self) -> dict[int, str]:
        standing = self.repository.subscriptions.page(self.account.number, limit=100)
        return {
            fact.vnumber: subscription.id
            for subscription in standing
            for fact in self.repository.subscriptions.history(self.account.number, subscription.id)
        }


def feature(name: str, lon: float, level: int) -> bytes:
    return json.dumps(
        {
            "type": "Feature",
            "id": name,
            "geometry": {"type": "Point", "coordinates": [lon, 41]},
            "properties": {"level": level},
        }
    ).encode()


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    place = Place(tmp_path)
    with (
        closing(Repository.open(place.repository)) as repository,
        closing(SqliteLog.open(place.publications, PARTITIONS)) as log,
        closing(SqliteLog.open(place.matches, PARTITIONS, unique_keys=False)) as matches,
    ):
        account = repository.accounts.add("bob", [Right.PUBLISH, Right.SUBSCRIBE])
        yield Bench(place, repository, log, matches, account)


def stream_of(bench: Bench, spark: SparkSession, keeper: SnapshotKeeper) -> LiveStream:
    settings = Settings()
    reach = Reach.in_place(bench.place, settings)
    return LiveStream(spark, bench.place, settings, bench.repository, bench.log, keeper, reach)


@contextmanager
def running(
    bench: Bench, spark: SparkSession, divider: Divider | None = None
) -> Iterator[LiveStream]:
    """The pipeline's process, without the process; what was published is matched at the end."""
    with closing(SnapshotKeeper(bench.repository, bench.place, QUERY, divider)) as keeper:
        stream = stream_of(bench, spark, keeper)
        keeper.start()
        stream.start()
        try:
            yield stream
            assert stream.drain(120)
        finally:
            stream.stop()


def forget_last_commit(place: Place) -> int:
    """Do what a crash right before the commit does: Spark will run the last batch again."""
    last = max(int(path.name) for path in (place.checkpoint / "commits").glob("[0-9]*"))
    (place.checkpoint / "commits" / str(last)).unlink()
    (place.checkpoint / "commits" / f".{last}.crc").unlink(missing_ok=True)
    return last


def test_what_is_published_is_matched_with_what_stands(bench: Bench, spark: SparkSession) -> None:
    bench.subscribe("near", 0, 2)
    bench.subscribe("far", 10, 12)
    bench.subscribe("high", 0, 12, "level >= 5")
    with running(bench, spark):
        bench.publish("a", "b", lon=1)
        bench.publish("c", lon=11, level=7)
        bench.publish("d", lon=50)
    assert bench.found() == {("a", "near"), ("b", "near"), ("c", "far"), ("c", "high")}


def test_a_subscription_counts_from_its_activation_on(bench: Bench, spark: SparkSession) -> None:
    bench.subscribe("first", 0, 2)
    with running(bench, spark) as stream:
        bench.publish("before")
        assert stream.drain(120)
        bench.subscribe("second", 0, 2)
        bench.wait_active("second")
        bench.publish("after")
    assert bench.found() == {("before", "first"), ("after", "first"), ("after", "second")}


def test_a_cancelled_subscription_matches_no_more(bench: Bench, spark: SparkSession) -> None:
    bench.subscribe("stays", 0, 2)
    bench.subscribe("goes", 0, 2)
    with running(bench, spark) as stream:
        bench.publish("before")
        assert stream.drain(120)
        bench.repository.subscriptions.cancel(bench.account.number, "goes")
        bench.subscribe("marker", 90, 91)
        bench.wait_active("marker")
        bench.publish("after")
    record = [
        MatchRecord.decode(v)
        for p in range(PARTITIONS)
        for v in bench.matches.read(p, 0).column("value").to_pylist()
    ]
    assert {r.id: len(r.versions) for r in record} == {"before": 2, "after": 1}


def test_bad_records_become_dead_letters_and_stop_nothing(
    bench: Bench, spark: SparkSession
) -> None:
    bench.subscribe("near", 0, 2)
    bad = feature("crossed", 1, 1).replace(
        b'"Point", "coordinates": [1, 41]',
        b'"Polygon", "coordinates": [[[0,0],[1,1],[1,0],[0,1],[0,0]]]',
    )
    with running(bench, spark):
        bench.log.append([("bob/broken", b'{"type": "Feat'), ("bob/crossed", bad)])
        bench.publish("good")
    letters = {letter.id: letter.reason for letter in bench.repository.dead_letters.page(0, 10)}
    assert set(letters) == {"broken", "crossed"}
    assert "JSON" in letters["broken"]
    assert "self" in letters["crossed"].lower()
    assert bench.found() == {("good", "near")}


def test_a_finished_batch_that_runs_again_adds_nothing(bench: Bench, spark: SparkSession) -> None:
    bench.subscribe("near", 0, 2)
    with running(bench, spark):
        bench.publish("a", "b", "c")
    before, ends = bench.found(), bench.matches.ends()
    batch = forget_last_commit(bench.place)
    bench.subscribe("later", 0, 2)
    with running(bench, spark):
        bench.wait_active("later")
    assert bench.matches.ends() == ends
    assert bench.found() == before == {("a", "near"), ("b", "near"), ("c", "near")}
    entries = bench.repository.ledger.entries(QUERY)
    assert [entry.batch for entry in entries] == list(range(batch + 1))


def test_a_batch_that_was_pinned_uses_its_pin(bench: Bench, spark: SparkSession) -> None:
    bench.subscribe("old", 0, 2)
    with closing(SnapshotKeeper(bench.repository, bench.place, QUERY)) as keeper:
        pinned = keeper.pin(0)
    bench.subscribe("new", 0, 2)
    bench.publish("event")
    with running(bench, spark):
        bench.wait_active("new")
    assert bench.repository.ledger.entries(QUERY)[0].snapshot == pinned
    assert bench.found() == {("event", "old")}


def test_the_ledger_says_what_was_in_each_batch(bench: Bench, spark: SparkSession) -> None:
    bench.subscribe("near", 0, 2)
    with running(bench, spark) as stream:
        for number in range(3):
            bench.publish(*(f"{number}-{k}" for k in range(10)))
            assert stream.drain(120)
    covered = {
        (partition, offset)
        for entry in bench.repository.ledger.entries(QUERY)
        for partition, (start, stop) in entry.ranges.items()
        for offset in range(start, stop)
    }
    there = {(p, offset) for p, end in enumerate(bench.log.ends()) for offset in range(end)}
    assert covered == there
    assert committed(bench.place.checkpoint, PARTITIONS) == bench.log.ends()


def test_snapshots_that_are_lost_are_noticed(bench: Bench) -> None:
    bench.subscribe("near", 0, 2)
    SnapshotKeeper(bench.repository, bench.place, QUERY).close()
    for path in sorted(bench.place.snapshots.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    with pytest.raises(StateError, match="is empty, but the repository knows snapshot"):
        SnapshotKeeper(bench.repository, bench.place, QUERY)


def test_a_repository_older_than_its_snapshots_is_noticed(bench: Bench) -> None:
    """As when the one is restored from a backup without the other."""
    bench.subscribe("near", 0, 2)
    SnapshotKeeper(bench.repository, bench.place, QUERY).close()
    with (
        closing(Repository.open(f"sqlite:///{bench.place.root / 'older.sqlite'}")) as older,
        pytest.raises(StateError, match="do not belong together: change 1 is not there"),
    ):
        SnapshotKeeper(older, bench.place, QUERY)


def test_a_second_pipeline_is_refused(bench: Bench) -> None:
    with (
        closing(SnapshotKeeper(bench.repository, bench.place, QUERY)),
        pytest.raises(StateError, match="is being written by another process"),
    ):
        SnapshotKeeper(bench.repository, bench.place, QUERY)


def test_a_stream_stops_while_publications_arrive(bench: Bench, spark: SparkSession) -> None:
    bench.subscribe("near", 0, 2)
    done = threading.Event()

    def publish() -> None:
        number = 0
        while not done.wait(0.01):
            number += 1
            bench.publish(f"{number}")

    busy = threading.Thread(target=publish, daemon=True)
    busy.start()
    for _ in range(3):
        with closing(SnapshotKeeper(bench.repository, bench.place, QUERY)) as keeper:
            stream = stream_of(bench, spark, keeper)
            stream.start()
            stream.wait_running(done)
            stopper = threading.Thread(target=stream.stop, daemon=True)
            stopper.start()
            stopper.join(60)
            assert not stopper.is_alive(), "the stream does not stop"
    done.set()
    busy.join()
    with running(bench, spark):
        pass
    assert {publication for publication, _ in bench.found()} == {
        str(number) for number in range(1, sum(bench.log.ends()) + 1)
    }


def test_a_checkpoint_of_another_past_is_noticed(bench: Bench, spark: SparkSession) -> None:
    bench.subscribe("near", 0, 2)
    with running(bench, spark) as stream:
        bench.publish("a")
        assert stream.drain(120)
        bench.publish("b")
    for name in ("commits", "offsets"):
        for path in (bench.place.checkpoint / name).iterdir():
            if path.name.strip(".").split(".")[0] not in ("0",):
                path.unlink()
    bench.publish("c")
    with closing(SnapshotKeeper(bench.repository, bench.place, QUERY)) as keeper:
        stream = stream_of(bench, spark, keeper)
        stream.start()
        with pytest.raises(StreamingQueryException, match="is not the one that belongs"):
            stream.drain(120)


def test_a_failure_after_a_version_is_written_is_overcome(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(SnapshotKeeper(bench.repository, bench.place, QUERY)) as keeper:
        failed: list[Version] = []
        apply = SnapshotStore.apply

        def fail_once(store: SnapshotStore, *change: Any) -> Version:
            version = apply(store, *change)
            if not failed:
                failed.append(version)
                raise OSError("the disk hiccups")
            return version

        monkeypatch.setattr(SnapshotStore, "apply", fail_once)
        keeper.start()
        for name in ("first", "second"):
            bench.subscribe(name, 0, 2)
            bench.wait_active(name)
        assert failed


def test_many_changes_are_joined_in_the_background(bench: Bench) -> None:
    with closing(SnapshotKeeper(bench.repository, bench.place, QUERY)) as keeper:
        keeper.start()
        for number in range(12):
            bench.subscribe(f"s{number}", 0, 2)
            bench.wait_active(f"s{number}")
        deadline = time.monotonic() + 300
        while len(json.loads(newest(bench.place))["parts"]) > 8:
            assert time.monotonic() < deadline, "parts are not joined"
            time.sleep(0.1)


def newest(place: Place) -> str:
    versions = (place.snapshots / "versions").glob("[0-9]*.json")
    return max(versions, key=lambda path: int(path.stem)).read_text()
