"""The three guarantees of docs/guarantees.md, while the service is killed again and again."""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from geocast.bench.chaos import Verdict, run_chaos
from geocast.bench.service import ServiceUnderTest

KILLS = 15
SEED = 30  # draws every kind of fault among so many
pytestmark = [pytest.mark.service, pytest.mark.timeout(2400)]


@pytest.fixture(scope="module")
def verdict(tmp_path_factory: pytest.TempPathFactory) -> Verdict:
    directory: Path = tmp_path_factory.mktemp("chaos") / "data"
    # In a process of its own: its many threads are no business of the tests that follow.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(mistreat, directory).result()


def mistreat(directory: Path) -> Verdict:
    with ServiceUnderTest(directory) as service:
        return run_chaos(service, KILLS, SEED, say)


def say(text: str) -> None:
    print(text, file=sys.stderr)


def breaches(verdict: Verdict, guarantee: str) -> list[str]:
    return [wrong.text for wrong in verdict.wrong if wrong.guarantee == guarantee]


def test_liveness_every_match_is_delivered(verdict: Verdict) -> None:
    assert breaches(verdict, "liveness") == []


def test_legality_nothing_else_is_delivered(verdict: Verdict) -> None:
    assert breaches(verdict, "legality") == []


def test_uniqueness_each_match_is_delivered_once(verdict: Verdict) -> None:
    assert breaches(verdict, "uniqueness") == []


def test_there_was_something_to_lose(verdict: Verdict) -> None:
    assert sum(verdict.kills.values()) == KILLS
    assert len(verdict.kills) >= 5
    assert verdict.publications > 500
    assert verdict.withdrawn > 5
    assert verdict.versions > 30
    assert verdict.batches > 5
    assert verdict.matches > 300
    assert verdict.heard_live > 100
