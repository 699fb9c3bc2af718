"""Kafka, PostgreSQL and Spark, three, one and two of them, broken while they are used."""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import psutil
import pytest

from geocast.bench.chaos import Verdict, run_chaos
from geocast.bench.cluster import ClusterUnderTest

FAULTS = 10
LATE = {
    "type": "Feature",
    "id": "late",
    "properties": {},
    "geometry": {"type": "Point", "coordinates": [0, 0]},
}
SCRIPT = Path(__file__).parents[2] / "scripts" / "cluster.sh"
pytestmark = [pytest.mark.service, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> tuple[Verdict, set[str]]:
    folder: Path = tmp_path_factory.mktemp("cluster") / "data"
    # In a process of its own: its many threads are no business of the tests that follow.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(mistreat, folder).result()


def mistreat(folder: Path) -> tuple[Verdict, set[str]]:
    with ClusterUnderTest(SCRIPT, folder) as cluster:
        verdict = run_chaos(cluster, FAULTS, 3, say)
        return verdict, mapped_by_workers(cluster, folder)


def say(text: str) -> None:
    print(text, file=sys.stderr)


def mapped_by_workers(cluster: ClusterUnderTest, folder: Path) -> set[str]:
    """What of the cluster's files Spark's Python processes have in memory, from the folder on.

    Those that have rested for a minute have ended: something is published first.
    """
    with cluster.client(cluster.new_account("late", "publish")) as client:
        client.publish(LATE)
    cluster.wait_idle(300)
    found: set[str] = set()
    for process in cluster.targets("python"):
        try:
            paths = [Path(one.path) for one in process.memory_maps()]
        except psutil.NoSuchProcess:
            continue
        found |= {str(path.relative_to(folder)) for path in paths if folder in path.parents}
    return found


def breaches(verdict: Verdict, guarantee: str) -> list[str]:
    return [wrong.text for wrong in verdict.wrong if wrong.guarantee == guarantee]


def test_liveness_every_match_is_delivered(outcome: tuple[Verdict, set[str]]) -> None:
    assert breaches(outcome[0], "liveness") == []


def test_legality_nothing_else_is_delivered(outcome: tuple[Verdict, set[str]]) -> None:
    assert breaches(outcome[0], "legality") == []


def test_uniqueness_each_match_is_delivered_once(outcome: tuple[Verdict, set[str]]) -> None:
    assert breaches(outcome[0], "uniqueness") == []


def test_there_was_something_to_lose(outcome: tuple[Verdict, set[str]]) -> None:
    verdict, _ = outcome
    assert sum(verdict.kills.values()) == FAULTS
    assert len(verdict.kills) >= 5
    assert verdict.publications > 300
    assert verdict.versions > 30
    assert verdict.matches > 200
    assert verdict.heard_live > 50
    assert verdict.in_topics > 50


def test_workers_map_copies_of_their_own(outcome: tuple[Verdict, set[str]]) -> None:
    """Nobody but the driver has its directory open; one copy serves all workers of a machine."""
    _, mapped = outcome
    snapshots = {path for path in mapped if "snapshots" in path}
    assert snapshots
    assert all(path.startswith("copies/") for path in snapshots)
