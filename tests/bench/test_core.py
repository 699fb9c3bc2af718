from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from geocast.bench.core import COLD, WARM, Options, run_workload
from geocast.bench.data import DataFolder
from geocast.bench.peers import PEERS, Pairs, Peer
from geocast.bench.report import write_report
from geocast.bench.results import Results
from geocast.bench.suite import SPARK, choose, count_steps, sized
from geocast.bench.targets import verdicts
from geocast.bench.workload import RECIPES, Workload, make
from geocast.errors import UnknownNameError

QUICK = Options(repetitions=2, peers=("shapely", "shapely prepared"), peer_seconds=0.05)


@pytest.fixture
def workload(data: DataFolder) -> Workload:
    return make(replace(RECIPES["thesis"], subs=200, pubs=80), data)


@pytest.fixture
def results(workload: Workload) -> Results:
    found = Results()
    run_workload("thesis", workload, QUICK, found, lambda _: None)
    return found


def test_every_engine_is_measured_in_every_round(results: Results) -> None:
    assert results.engines("thesis") == [COLD, WARM, *QUICK.peers]
    for engine in results.engines():
        rounds = results.of("thesis", engine)
        assert [measurement.repetition for measurement in rounds] == [0, 1]
        assert all(measurement.rate > 0 for measurement in rounds)


def test_all_answers_agree(results: Results) -> None:
    assert {agreement.engine for agreement in results.agreements} == {WARM, *QUICK.peers}
    assert all(agreement.full and agreement.pairs for agreement in results.agreements)


def test_the_index_is_described(results: Results) -> None:
    (facts,) = results.indexes
    assert facts.subscriptions == 200
    assert facts.rejected == 0
    assert facts.bytes_per_subscription > 0
    assert facts.open_seconds > 0


def test_announcements_are_as_many_as_counted(workload: Workload) -> None:
    heard: list[str] = ["drawing"]
    run_workload("thesis", workload, QUICK, Results(), heard.append)
    assert len(heard) == count_steps(["thesis"], QUICK)


class Forgetful(Peer):
    """Loses a pair, and invents one."""

    name: ClassVar[str] = "forgetful"

    def __init__(self, subscriptions: pa.Table) -> None:
        self._honest = PEERS["shapely"](subscriptions)

    def match(self, publications: pa.Table) -> Pairs:
        pairs = self._honest.match(publications)
        subscriptions = pairs.subscriptions.copy()
        subscriptions[0] += 1_000_000
        return Pairs(pairs.publications, subscriptions)


class Broken(Forgetful):
    """Cannot match."""

    name: ClassVar[str] = "broken"

    def match(self, publications: pa.Table) -> Pairs:
        raise ValueError("no such\npredicate")


def test_a_peer_that_differs_or_fails_is_told(
    workload: Workload, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(PEERS, "forgetful", Forgetful)
    monkeypatch.setitem(PEERS, "broken", Broken)
    found = Results()
    peers = replace(QUICK, peers=("forgetful", "broken"))
    run_workload("thesis", workload, peers, found, lambda _: None)
    told = found.agreement("thesis", "forgetful")
    assert told is not None
    assert (told.lacking, told.surplus) == (1, 1)
    assert [absence.engine for absence in found.absences] == ["broken"]
    assert "no such predicate" in found.absences[0].reason


def test_the_report_is_complete_and_stands_alone(results: Results, tmp_path: Path) -> None:
    files = write_report(results, tmp_path, "geocast bench core --only <thesis>")
    assert all(file.stat().st_size > 1000 for file in files)
    assert {file.name for file in files} == {
        "index.html",
        "rates.svg",
        "rates.png",
        "targets.svg",
        "targets.png",
    }
    page = files[0].read_text()
    assert "&lt;thesis&gt;" in page
    assert page.count("data:image/svg+xml;base64,") == 2
    assert "http" not in page
    table = pq.read_table(tmp_path / "measurements.parquet")
    assert table.num_rows == len(results.measurements)
    assert {"workload", "engine", "rate"} <= set(table.column_names)


def test_targets_are_judged_by_medians(results: Results) -> None:
    judged = {verdict.what: verdict for verdict in verdicts(results)}
    cold = judged[f"{COLD} / shapely"]
    mine, plain = results.rate("thesis", COLD), results.rate("thesis", "shapely")
    assert mine is not None
    assert plain is not None
    assert cold.value == pytest.approx(mine / plain)
    assert cold.passed == (cold.value >= 100)


def test_workloads_are_chosen_by_name_or_all() -> None:
    assert choose(["osm", "thesis"], million=False, spark=False) == ["thesis", "osm"]
    everything = choose([], million=True, spark=True)
    assert {"million", *SPARK} <= set(everything)
    assert set(everything) - set(choose([], million=False, spark=False)) == {"million", *SPARK}
    with pytest.raises(UnknownNameError, match="moon"):
        choose(["moon"], million=True, spark=True)


def test_sizes_scale_with_what_is_asked() -> None:
    assert sized("million", 20, None, 1).subs == 2_000
    assert {sized(name, None, 50, 1).pubs for name in SPARK} == {500}
    assert sized("spark-unique", None, None, 1).unique
    assert sized("thesis", None, None, 4) == replace(RECIPES["thesis"], seed=4)
