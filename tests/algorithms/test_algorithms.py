"""All partitioned algorithms against the oracle; `test_match` has all of them on Spark."""

from __future__ import annotations

import shutil
from functools import cache

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
from tests.algorithms.steps import PARTITIONED, find
from tests.expressions import STEP, expression, feature_table
from tests.lattice import lattice_geometries
from tests.match.comparison import (
    assert_pairs,
    found_pairs,
    publication_table,
    subscription_table,
)
from tests.match.real_data import Sides, sides_of
from tests.oracle.bulk import mixed_pairs
from tests.oracle.spatial import Pairs
from tests.pipeline.generate import as_dict

EVERY_FAMILY = ("sPS{QT}", "sPIS[QT]{QT}", "RIsPS[HT]{KT}", "RIhPS[HT]", "sPS{HI}", "sPIS[ST]{VO}")
PREDICATES = tuple(oracle.PREDICATES)


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


@cache
def workload(kind: str, subs: int, pubs: int) -> tuple[Sides, Pairs]:
    publications, areas, predicates = sides_of(kind, subs, pubs)
    predicates[::10] = ["disjoint"] * len(predicates[::10])
    return (publications, areas, predicates), mixed_pairs(publications, areas, predicates)


@cache
def lattice() -> tuple[Sides, Pairs]:
    """All types on a coarse grid, where cell borders, too, run along edges."""
    rng = np.random.default_rng(5)
    publications = lattice_geometries(rng, 150, 1.0, span=12)
    areas = lattice_geometries(rng, 150, 1.0, span=12)
    predicates = rng.choice(PREDICATES, len(areas)).tolist()
    return (publications, areas, predicates), mixed_pairs(publications, areas, predicates)


@pytest.mark.parametrize("name", PARTITIONED)
def test_real_areas_and_all_predicates(name: str) -> None:
    check(name, *workload("thesis", 400, 200))


@pytest.mark.parametrize("name", PARTITIONED)
def test_all_types_on_a_grid(name: str) -> None:
    check(name, *lattice())


@pytest.mark.parametrize("kind", ["unique", "outlines"])
@pytest.mark.parametrize("size", [(30, 100), (2_000, 500)])
@pytest.mark.parametrize("name", EVERY_FAMILY)
def test_other_kinds_and_sizes(name: str, size: tuple[int, int], kind: str) -> None:
    check(name, *workload(kind, *size), cells=100)


@pytest.mark.parametrize("cells", [1, 2, 500])
@pytest.mark.parametrize("name", EVERY_FAMILY)
def test_any_number_of_partitions(name: str, cells: int) -> None:
    check(name, *workload("thesis", 400, 200), cells=cells)


@pytest.mark.parametrize(
    "name",
    [n if n in EVERY_FAMILY else pytest.param(n, marks=pytest.mark.full) for n in PARTITIONED],
)
def test_merging_finds_the_same(name: str) -> None:
    check(name, *lattice(), merge=True)


@pytest.mark.parametrize("name", EVERY_FAMILY)
def test_publications_outside_the_extent_of_all_subscriptions(name: str) -> None:
    areas = shapely.box([0, 1, 5], [0, 1, 5], [2, 3, 7], [2, 3, 7])
    far = shapely.points([100.0, -170.0], [50.0, -80.0])
    around = shapely.box(-180, -90, 180, 90)
    publications = np.array([*far, around, shapely.Point(1.5, 1.5)], dtype=object)
    predicates = ["intersects", "disjoint", "contains"]
    sides = publications, areas, predicates
    check(name, sides, mixed_pairs(*sides))


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
    (publications, areas, predicates), _ = workload("thesis", 400, 200)
    table = subscription_table(areas, predicates)
    batch = publication_table(publications).combine_chunks().to_batches()[0]
    algorithm = Partitioned(table, parse_name("sPS{QT}"), 20, merge=False)
    holding = Holding(Shipment("one", str(algorithm.folder)))
    sent = parcels(Chunk(batch, np.arange(batch.num_rows), ()), [holding] * count, tasks)
    reached = {task for task, parcel in sent if (parcel.target % (count + 1) < count).any()}
    assert reached == set(range(tasks))


def test_a_share_that_is_missing_is_told() -> None:
    (publications, areas, predicates), _ = workload("thesis", 400, 200)
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
    check("sPS{QT}", *workload("thesis", 400, 200))
    check("RIsPS[HT]{KT}", *lattice(), merge=True)


def test_shares_are_let_go_when_they_are_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shares_module, "_MOST_PRIVATE", 0)
    check("sPIS[QT]{QT}", *workload("thesis", 400, 200))
    assert len(shares_module.shares) == 0


def test_a_batch_job_has_the_partitions_of_one_task_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shares_module, "_MOST_PRIVATE", 1 << 50)  # whatever other tests hold
    (publications, areas, predicates), _ = workload("thesis", 400, 200)
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
