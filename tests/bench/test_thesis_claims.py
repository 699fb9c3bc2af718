"""Verdicts follow from rows: the same claim is confirmed by some, refuted by others."""

from __future__ import annotations

from typing import Any

import pytest

from geocast.bench.thesis.claims import CLAIMS, Judged, judge_claims
from geocast.bench.thesis.evidence import Evidence, MissingError, mean
from geocast.bench.thesis.figures import JOINS, OVERHEAD
from geocast.bench.thesis.rivals import JOINED, SEDONA
from geocast.bench.workload import PREDICATES

Row = dict[str, Any]


def row(figure: str, series: str, x: float, value: float, **more: Any) -> Row:
    plain = {"figure": figure, "series": series, "x": x, "label": str(x), "reason": ""}
    return plain | {"quantity": "rate", "rate": value, "way": "batch"} | more


def at_defaults(**rates: float) -> list[Row]:
    names = {
        "RIS": "RIS[HT]",
        "RIsPS": "RIsPS[HT]{KT}",
        "RIhPS": "RIhPS[HT]",
        "sPIS": "sPIS[QT]{QT}",
        "sPS": "sPS{QT}",
    }
    return [row("8.1", names[family], 0, rate) for family, rate in rates.items()]


def verdict(part: str, rows: list[Row]) -> Judged:
    (one,) = [one for one in judge_claims(Evidence(rows)) if part in one.claim.text]
    return one


def test_without_rows_nothing_is_judged() -> None:
    judged = judge_claims(Evidence([]))
    assert len(judged) == len(CLAIMS)
    assert {one.word for one in judged} == {"not measured"}
    assert all(one.found for one in judged)


@pytest.mark.parametrize(
    ("rates", "word"),
    [
        ({"RIS": 9, "RIsPS": 6, "RIhPS": 4, "sPIS": 2, "sPS": 2.1}, "confirmed"),
        ({"RIS": 9, "RIsPS": 6, "RIhPS": 4, "sPIS": 5, "sPS": 2.1}, "refuted"),
        ({"RIS": 9, "RIsPS": 6, "RIhPS": 4, "sPIS": 5}, "not measured"),
    ],
)
def test_the_ranking(rates: dict[str, float], word: str) -> None:
    assert verdict("RIS is the fastest", at_defaults(**rates)).word == word


@pytest.mark.parametrize(
    ("rate", "memory", "word"),
    [(6.0, 20e6, "confirmed"), (6.0, 30e6, "refuted"), (5.0, 20e6, "refuted")],
)
def test_half_the_rate_with_a_quarter_of_the_memory(rate: float, memory: float, word: str) -> None:
    rows = at_defaults(RIS=10, RIsPS=1, RIhPS=4, sPIS=2, sPS=2)
    for name, speed, value in (("RIS[HT]", 10.0, 100e6), ("RIsPS[HT]{KT}", rate, memory)):
        static = {"static_unshared": value / 2, "static_shared": value / 2}
        rows.append(row("8.26", name, 1_000, speed, quantity="static", **static))
        few = {"static_unshared": value, "static_shared": 0.0}
        rows.append(row("8.26", name, 100, 1.0, quantity="static", **few))
    judged = verdict("less than a quarter of its memory", rows)
    assert judged.word == word
    assert f"{rate / 10:.2f} of RIS's throughput" in judged.found
    assert "RIS 50 MB unshared and 50 shared" in judged.found


def test_a_quadtree_index_is_judged_wherever_its_counterparts_are() -> None:
    rows = [row("8.10", f"RIsPS[{index}]{{KT}}", 4, 10) for index in ("ST", "HT")]
    rows += [row("8.10", "RIsPS[QT]{KT}", 4, 5), row("8.10", "RIsPS[QT]{KT}", 20, 1)]
    judged = verdict("RIsPS: a quadtree index", rows)
    assert (judged.word, judged.found.count("0.50")) == ("confirmed", 2)


@pytest.mark.parametrize(
    ("axis", "word"),
    [((4, 100, 500), "confirmed"), ((4, 100), "not measured"), ((4, 500, 2500), "not measured")],
)
def test_the_best_number_of_partitions_needs_places_around_it(
    axis: tuple[int, ...], word: str
) -> None:
    names = ("sPS{QT}", "sPIS[QT]{QT}", "RIhPS[HT]")
    rows = [row("8.19", name, x, 9 if x == 100 else 5) for name in names for x in axis]
    assert verdict("fastest with 100 partitions", rows).word == word


@pytest.mark.parametrize(("latency", "word"), [(2.0, "confirmed"), (0.5, "refuted")])
def test_jobs_raise_throughput_and_latency(latency: float, word: str) -> None:
    rows = []
    for jobs, rate, delay in ((1, 10.0, 1.0), (4, 15.0, latency)):
        rows.append(row("8.20", "RIS[HT]", jobs, rate))
        rows.append(row("8.21", "RIS[HT]", jobs, rate, quantity="latency", latency=delay))
    assert verdict("throughput and latency both rise", rows).word == word


@pytest.mark.parametrize(
    ("rates", "word"),
    [((10, 30, 60), "confirmed"), ((10, 12, 60), "refuted"), ((10, 30), "not measured")],
)
def test_overhead_fades_with_publications(rates: tuple[float, ...], word: str) -> None:
    rows = [row("8.23", "RIS[HT]", 10**place, rate) for place, rate in enumerate(rates)]
    assert verdict("as the overhead fades", rows).word == word


@pytest.mark.parametrize(("hashed", "word"), [(11.0, "confirmed"), (20.0, "refuted")])
def test_all_but_the_hash_grow_with_cores(hashed: float, word: str) -> None:
    rates = {"RIS[HT]": 19.0, "RIhPS[HT]": hashed}
    rows = [row("8.24", name, 1, 10.0) for name in rates]
    rows += [row("8.24", name, 2, rate) for name, rate in rates.items()]
    assert verdict("grows linearly with executors", rows).word == word


@pytest.mark.parametrize(("cheap", "word"), [("covers", "confirmed"), ("within", "refuted")])
def test_predicates_are_turned_round(cheap: str, word: str) -> None:
    """The thesis's coveredBy, subscription first, is covers with the publication first."""
    groups = {"covers": ("covers", "equals", "contains"), "within": ("within", "coveredby")}
    middle = next(names for name, names in groups.items() if name != cheap)
    rate = dict.fromkeys(groups[cheap], 9.0) | dict.fromkeys(middle, 5.0)
    rows = [
        row("8.29", "RIS[HT]", place, rate.get(name, 1.0), label=name)
        for place, name in enumerate(PREDICATES)
    ]
    assert verdict("dear: crosses", rows).word == word


@pytest.mark.parametrize(("rate", "word"), [(95.0, "confirmed"), (80.0, "refuted")])
def test_overhead_counts_on_all_cores(rate: float, word: str) -> None:
    rows = [row("8.30", name, 2, 100.0) for name in ("CEN", "CEN[HT]", "RIS")]
    rows += [row("8.30", "RIS[HT]", 1, 5.0), row("8.30", "RIS[HT]", 2, rate)]
    judged = verdict("overhead over one process", rows)
    assert judged.word == word
    assert "by publications" not in judged.found
    more = [row(OVERHEAD, "RIS, unique", 500, 80.0), row(OVERHEAD, "CEN, unique", 500, 100.0)]
    told = verdict("overhead over one process", rows + more)
    assert told.word == word
    assert told.found.endswith("by publications, unique polygons: 500 0.80x")


def test_sedona_is_judged_where_it_ran_and_excused_where_it_cannot() -> None:
    ran = [row(JOINS, name, 500, 30.0) for name in JOINED]
    ran += [row(JOINS, name, 500, 15.0) for name in SEDONA]
    assert verdict("Sedona's spatial join", ran).word == "confirmed"
    # With other numbers of publications, rates are not to be compared.
    elsewhere = [row("8.30", name, 2, 90.0) for name in JOINED]
    slow = [row(JOINS, name, 500, 20.0) for name in JOINED] + elsewhere
    slow += [row(JOINS, name, 500, 15.0) for name in SEDONA]
    assert verdict("Sedona's spatial join", slow).word == "refuted"
    why = {"way": "sedona", "rate": None, "reason": "no network"}
    excused = verdict("Sedona's spatial join", [row(JOINS, "Sedona sPS{QT}", 500, 0) | why])
    assert (excused.word, excused.found) == ("not measurable here", "no network")


def test_executors_and_kafka_say_why_they_cannot_be_judged() -> None:
    rows = [row("8.18", "RIS[HT]", 0, 5.0, label="2 x 1")]
    rows.append(row("8.22", "RIS[HT]", 8, 0) | {"rate": None, "reason": "no Kafka"})
    assert "2 x 1" in verdict("balanced executors", rows).found
    assert verdict("128 Kafka partitions", rows).word == "not measurable here"


def test_kafka_partitions_are_judged_by_where_each_is_best() -> None:
    def rows(ris: float, other: float) -> list[Row]:
        best = {"RIS[HT]": ris, "sPS{QT}": other}
        return [
            row("8.22", name, x, 20.0 if x == at else 10.0)
            for name, at in best.items()
            for x in (8, 32, 128)
        ]

    confirmed = verdict("128 Kafka partitions", rows(128, 32))
    assert (confirmed.word, confirmed.found) == (
        "confirmed",
        "best with: RIS[HT] 128, sPS{QT} 32",
    )
    assert verdict("128 Kafka partitions", rows(8, 32)).word == "refuted"
    assert verdict("128 Kafka partitions", rows(128, 8)).word == "refuted"
    few = [one for one in rows(8, 8) if one["x"] != 128]
    assert verdict("128 Kafka partitions", few).word == "not measured"


def test_means_are_geometric_and_need_something() -> None:
    assert mean([2, 8]) == pytest.approx(4)
    with pytest.raises(MissingError):
        mean([])
