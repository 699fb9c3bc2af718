"""All algorithms against the oracle; `test_match` has all of them on Spark."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from geocast.errors import InputError
from geocast.files import Chunk
from geocast.model import Reject
from geocast.pipeline import lower, parse_name
from geocast.pipeline import shares as shares_module
from geocast.pipeline.base import Answered
from geocast.pipeline.parcel import packed
from geocast.pipeline.partitioned import Partitioned
from geocast.pipeline.routing import Holding, parcels
from geocast.pipeline.shipment import Shipment
from tests import oracle
from tests.algorithms.cases import CASES, REAL, case
from tests.algorithms.steps import PARTITIONED, REPLICATED, find
from tests.expressions import STEP, expression, feature_table
from tests.lattice import lattice_geometries
from tests.match.comparison import (
    assert_pairs,
    found_pairs,
    publication_table,
    subscription_table,
)
from tests.match.real_data import Sides
from tests.oracle.bulk import mixed_pairs
from tests.oracle.spatial import Pairs
from tests.pipeline.generate import as_dict

EVERY_FAMILY = ("sPS{QT}", "sPIS[QT]{QT}", "RIsPS[HT]{KT}", "RIhPS[HT]", "sPS{HI}", "sPIS[ST]{VO}")
"""Of every way to divide one, and some that are unlike."""

CELLS = 60
PREDICATES = tuple(oracle.PREDICATES)
ALL = [*REPLICATED, *PARTITIONED]


def _in_turn(names: Sequence[str], quick: Sequence[str]) -> list[Any]:
    return [n if n in quick else pytest.param(n, marks=pytest.mark.full) for n in names]


IN_TURN_DIVIDED = _in_turn(PARTITIONED, EVERY_FAMILY)
IN_TURN = _in_turn(ALL, EVERY_FAMILY)
"""All, those of `EVERY_FAMILY` always, the others where long comparisons are asked for."""


def joined(answers: list[Answered]) -> pa.Table:
    return pa.concat_tables([answer.matches for answer in answers])


def check(
    name: str, sides: Sides, expected: Pairs, *, cells: int = 20, merge: bool = False
) -> None:
    publications, areas, predicates = sides
    answers = find(
        name,
        subscription_table(areas, predicates),
        publication_table(publications),
        cells=cells,
        merge=merge,
    )
    assert sum(answer.publications for answer in answers) == len(publications)
    assert not any(answer.rejects for answer in answers)
    found = found_pairs(joined(answers))
    assert_pairs(found, expected, lambda i, j: (predicates[j], publications[i], areas[j]))


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("what", ["middle", "lattice"])
def test_areas_and_types_of_every_kind(name: str, what: str) -> None:
    check(name, *case(what))


@pytest.mark.parametrize("name", IN_TURN)
@pytest.mark.parametrize("what", [name for name in CASES if name not in ("middle", "lattice")])
def test_the_same_elsewhere(name: str, what: str) -> None:
    check(name, *case(what), cells=CELLS)


@pytest.mark.full
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("what", REAL)
def test_the_same_on_real_data(name: str, what: str) -> None:
    check(name, *case(what), cells=100)


@pytest.mark.parametrize("cells", [1, 2, 500])
@pytest.mark.parametrize("name", IN_TURN_DIVIDED)
def test_any_number_of_partitions(name: str, cells: int) -> None:
    check(name, *case("middle"), cells=cells)


@pytest.mark.parametrize("name", ["sPS{EG}", "RIsPS[HT]{EG}", "RIhPS[HT]"])
def test_most_partitions_may_be_empty(name: str) -> None:
    (_, areas, predicates), _ = case("clusters")
    many = 500
    table = subscription_table(areas, predicates)
    algorithm = Partitioned(table, parse_name(name), many, merge=False)
    held = [path for path in algorithm.folder.iterdir() if path.name.isdecimal()]
    assert 0 < len(held) < many / 4
    check(name, *case("clusters"), cells=many)


@pytest.mark.parametrize("name", IN_TURN_DIVIDED)
def test_merging_finds_the_same(name: str) -> None:
    check(name, *case("lattice"), merge=True)


@cache
def filters() -> tuple[pa.Table, pa.Table, dict[str, list[str]]]:
    rng = np.random.default_rng(3)
    texts = [expression(rng) for _ in range(150)]
    subscriptions = pa.table({"id": [f"s{k:03d}" for k in range(150)], "filter": texts})
    publications = feature_table(rng, 60)
    return subscriptions, publications, oracle.match(subscriptions, publications)


@pytest.mark.parametrize("name", EVERY_FAMILY)
def test_filters_that_have_several_places_or_none(name: str) -> None:
    subscriptions, publications, expected = filters()
    assert as_dict(joined(find(name, subscriptions, publications))) == expected


@pytest.mark.parametrize("name", EVERY_FAMILY)
def test_a_bad_publication_is_rejected_once(name: str) -> None:
    bowtie = shapely.from_wkt("POLYGON ((0 0, 8 8, 8 0, 0 8, 0 0))")
    wkb = [b"nonsense", shapely.to_wkb(bowtie), shapely.to_wkb(shapely.Point(1, 1)), None]
    publications = pa.table({"id": ["a", "b", "c", "d"], "geometry": pa.array(wkb, pa.binary())})
    areas = shapely.box(np.arange(6.0), np.arange(6.0), np.arange(6) + 2.0, np.arange(6) + 2.0)
    unreadable = (Reject("publications", 9, "x", "is no feature"),)
    answers = find(
        name, subscription_table(areas, ["disjoint"] * 6), publications, unreadable=unreadable
    )
    rejects = [reject for answer in answers for reject in answer.rejects]
    assert sorted((reject.row, reject.id) for reject in rejects) == [
        (0, "a"), (1, "b"), (3, "d"), (9, "x"),
    ]  # fmt: skip
    assert sum(answer.publications for answer in answers) == 5
    assert as_dict(joined(answers)) == {"c": ["2", "3", "4", "5"]}


@pytest.mark.parametrize("name", EVERY_FAMILY)
def test_without_subscriptions_nothing_matches(name: str) -> None:
    nobody = subscription_table(np.empty(0, dtype=object), [])
    answers = find(name, nobody, publication_table(shapely.points([1.0, 2.0], [3.0, 4.0])))
    assert joined(answers).num_rows == 0
    assert sum(answer.publications for answer in answers) == 2


@pytest.mark.parametrize("tasks", [2, 3, 4, 6])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_all_tasks_have_partitions(tasks: int, count: int) -> None:
    (publications, areas, predicates), _ = case("middle")
    table = subscription_table(areas, predicates)
    batch = publication_table(publications).combine_chunks().to_batches()[0]
    algorithm = Partitioned(table, parse_name("sPS{QT}"), 20, merge=False)
    holding = Holding(Shipment("one", str(algorithm.folder)))
    sent = parcels(Chunk(batch, np.arange(batch.num_rows), ()), [holding] * count, tasks)
    reached = {task for task, parcel in sent if (parcel.target % (count + 1) < count).any()}
    assert reached == set(range(tasks))


def test_a_share_that_is_missing_is_told() -> None:
    (publications, areas, predicates), _ = case("middle")
    algorithm = Partitioned(
        subscription_table(areas, predicates), parse_name("sPS{QT}"), 20, merge=False
    )
    shutil.rmtree(next(path for path in algorithm.folder.iterdir() if path.name.isdecimal()))
    holdings, worker, _ = algorithm.steps(Shipment("one", str(algorithm.folder)))
    batch = publication_table(publications).combine_chunks().to_batches()[0]
    chunk = Chunk(batch, np.arange(batch.num_rows), ())
    sent = [packed(0, 0, parcel.pack()) for _, parcel in parcels(chunk, holdings, 1)]
    with pytest.raises(InputError, match="does not hold"):
        list(worker.partials(sent))


def test_many_pairs_are_answered_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lower, "_PAIRS_AT_ONCE", 50)
    check("sPS{QT}", *case("middle"))
    check("RIsPS[HT]{KT}", *case("lattice"), merge=True)


def test_shares_are_let_go_when_they_are_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shares_module, "_MOST_PRIVATE", 0)
    check("sPIS[QT]{QT}", *case("middle"))
    assert len(shares_module.shares) == 0


def test_a_batch_job_has_the_partitions_of_one_task_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shares_module, "_MOST_PRIVATE", 1 << 50)  # whatever other tests hold
    (publications, areas, predicates), _ = case("middle")
    table = subscription_table(areas, predicates)
    algorithm = Partitioned(table, parse_name("sPS{QT}"), 20, merge=False)
    batch = publication_table(publications).combine_chunks().to_batches()[0]
    chunk = Chunk(batch, np.arange(batch.num_rows), ())

    def opened(*, once: bool) -> list[int]:
        shares_module.shares.keep_only(set())
        holdings, worker, _ = algorithm.steps(Shipment("one", str(algorithm.folder)), once=once)
        sent: list[list[pa.RecordBatch]] = [[], []]
        for task, parcel in parcels(chunk, holdings, len(sent)):
            sent[task].append(packed(task, 0, parcel.pack()))
        counts = []
        for batches in sent:
            list(worker.partials(batches))
            counts.append(len(shares_module.shares))
        return counts

    first, second = opened(once=True)
    assert min(first, second) > 2
    what_has_no_place = 1
    assert opened(once=False) == [first, first + second - what_has_no_place]


@settings(max_examples=40)
@given(
    name=st.sampled_from(PARTITIONED),
    seed=st.integers(0, 2**32 - 1),
    cells=st.integers(1, 40),
    merge=st.booleans(),
)
def test_every_pair_is_reported_once(name: str, seed: int, cells: int, merge: bool) -> None:
    rng = np.random.default_rng(seed)
    publications = lattice_geometries(rng, 12, STEP, span=6)
    areas = lattice_geometries(rng, 25, STEP, span=6)
    predicates = rng.choice(PREDICATES, len(areas)).tolist()
    sides = publications, areas, predicates
    check(name, sides, mixed_pairs(*sides), cells=cells, merge=merge)
