from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import shapely

from geocast.errors import InputError, StateError
from geocast.snapshot import SnapshotMatcher, SnapshotStore, opened
from tests.oracle import PREDICATES
from tests.oracle.bulk import mixed_pairs
from tests.snapshot.samples import (
    PUBLICATIONS,
    Wanted,
    batch_of,
    boxes,
    found,
    matched,
    subscription_table,
)

EVERYWHERE = Wanted(shapely.box(-10, -10, 10, 10))


def opened_with(directory: Path, *changes: dict[int, Wanted]) -> SnapshotMatcher:
    """Apply the changes and open the version after them."""
    with SnapshotStore(directory) as store:
        version = store.apply(subscription_table({}), [], 0)
        for through, wanted in enumerate(changes, 1):
            version = store.apply(subscription_table(wanted), [], through)
    return SnapshotMatcher.open(directory, version.version)


def test_large_parts_and_joined_ones_match_as_the_oracle_says(tmp_path: Path) -> None:
    """Parts with and without cells, all predicates, points and areas."""
    rng = np.random.default_rng(5)
    wanted = {
        number: Wanted(own.geometry, str(rng.choice([*PREDICATES])))
        for number, own in boxes(range(1, 1200), seed=2).items()
    }
    shapes = np.array([own.geometry for own in wanted.values()])
    places = [shapely.Point(*xy) for xy in rng.uniform((-170, -80), (170, 80), (80, 2))]
    events = np.array([*places, *shapes[:40], *shapely.buffer(shapes[40:60], 2)])
    rows, columns = mixed_pairs(events, shapes, [str(own.predicate) for own in wanted.values()])
    expected = {(int(r), int(c) + 1) for r, c in zip(rows, columns, strict=True) if c % 9}
    removed = [number for number in wanted if (number - 1) % 9 == 0]
    batch = batch_of([{"id": "same", "geometry": event} for event in events])
    with SnapshotStore(tmp_path) as store:
        for number, bounds in enumerate([(1, 700), (700, 1000), (1000, 1060), (1060, 1200)]):
            change = {n: wanted[n] for n in range(*bounds)}
            store.apply(subscription_table(change), [], number)
        before = store.apply(subscription_table({}), removed, 9)
        assert set(found(SnapshotMatcher.open(tmp_path, before.version), batch)) == expected
        store.apply(subscription_table({5000: EVERYWHERE, 5001: EVERYWHERE}), [], 10)
        plan = store.plan_merge()
        assert plan is not None
        all_of_them = wanted | {5000: EVERYWHERE, 5001: EVERYWHERE}
        numbers = plan.vnumbers.tolist()
        part = store.merge(plan, [subscription_table({n: all_of_them[n] for n in numbers})])
        store.install(plan, part)
        after = store.apply(subscription_table({}), [5000, 5001], 11)
    assert len(after.parts) < len(before.parts)
    assert set(found(SnapshotMatcher.open(tmp_path, after.version), batch)) == expected


def test_a_version_without_subscriptions_still_tells_what_cannot_be_used(tmp_path: Path) -> None:
    matcher = opened_with(tmp_path)
    batch = batch_of([{"id": "x", "geometry": shapely.Point(200, 0)}, PUBLICATIONS[0]])
    answer = matcher.answer(batch)
    assert (len(answer.row), len(matcher), matcher.properties) == (0, 0, frozenset())
    assert [(row, name) for row, name, _ in answer.rejected] == [(0, "x")]
    with pytest.raises(InputError, match="no column 'geometry'"):
        matcher.answer(batch.drop_columns("geometry"))


@pytest.mark.parametrize("content", [None, "id = 'x' OR id = ''"])
@pytest.mark.parametrize("parts", [1, 3])
def test_unusable_publications_are_rejected_once(
    tmp_path: Path, parts: int, content: str | None
) -> None:
    matcher = opened_with(
        tmp_path,
        *(
            {n: EVERYWHERE, 10 + n: Wanted(None, None, content)} if content else {n: EVERYWHERE}
            for n in range(parts)
        ),
    )
    crossed = shapely.Polygon([(0, 0), (2, 2), (2, 0), (0, 2)])
    batch = batch_of(
        [
            {"id": "x", "geometry": shapely.Point(1, 1)},
            {"id": None, "geometry": shapely.Point(1, 1)},
            {"id": "x", "geometry": crossed},
            {"id": "", "geometry": shapely.Point(400, 1)},
            {"id": "x", "geometry": shapely.Point(0, 99)},
            {"id": "y", "geometry": shapely.Point(1, 1)},
        ]
    )
    answer = matcher.answer(batch)
    names = [(row, name) for row, name, _ in answer.rejected]
    assert names == [(1, None), (2, "x"), (3, ""), (4, "x")]
    reasons = [reason for _, _, reason in answer.rejected]
    assert reasons[0] == "id is null"
    assert reasons[2] == "id is empty"
    assert "90" in reasons[3]
    everywhere = answer.row[answer.vnumber < 10]
    assert everywhere.tolist() == [0] * parts + [5] * parts


def test_filters_on_ids_see_the_ids_that_repeat(tmp_path: Path) -> None:
    wanted = {
        3: Wanted(None, None, "id = 'a'"),
        4: Wanted(shapely.box(0, 2, 1, 4), "intersects", "id = 'a' OR id = 'c'"),
        5: Wanted(None, None, "NOT (id = 'a')"),
    }
    matcher = opened_with(tmp_path, wanted, {9: EVERYWHERE})
    assert matcher.properties == {"id"}
    expected = sorted(
        (row, n) for n, own in (wanted | {9: EVERYWHERE}).items() for row in matched(own)
    )
    assert found(matcher, batch_of()) == expected


@pytest.mark.parametrize("ids", [pa.array(range(7)), pa.array(list("abcabca")).dictionary_encode()])
def test_ids_may_be_numbers_or_encoded(tmp_path: Path, ids: Any) -> None:
    matcher = opened_with(tmp_path, {1: EVERYWHERE, 2: Wanted(None, None, "id = 'a'")})
    batch = batch_of().set_column(0, "id", ids)
    assert [pair for pair in found(matcher, batch) if pair[1] == 1] == [(r, 1) for r in range(7)]


def test_an_empty_batch_matches_nothing(tmp_path: Path) -> None:
    for content in (None, "id = 'a'"):
        matcher = opened_with(
            tmp_path / str(content), {1: Wanted(EVERYWHERE.geometry, None, content)}
        )
        answer = matcher.answer(batch_of([]))
        assert (answer.row.tolist(), answer.vnumber.tolist(), answer.rejected) == ([], [], [])


def test_properties_are_those_of_all_parts(tmp_path: Path) -> None:
    matcher = opened_with(
        tmp_path, {1: Wanted(None, None, "speed > 1")}, {2: Wanted(None, None, "kind = 'bus'")}
    )
    assert matcher.properties == {"speed", "kind"}


def test_parts_are_opened_once_and_let_go(tmp_path: Path) -> None:
    with SnapshotStore(tmp_path) as store:
        for number in range(4):
            store.apply(subscription_table({number: EVERYWHERE}), [], number)
        plan = store.plan_merge()
        assert plan is not None
        table = subscription_table(dict.fromkeys(range(4), EVERYWHERE))
        last = store.install(plan, store.merge(plan, [table]))
    matchers = [SnapshotMatcher.open(tmp_path, number) for number in range(1, 5)]
    assert len({id(part) for matcher in matchers for part in matcher._parts}) == 4
    mine = [path for path in opened._open if tmp_path in path.parents]
    assert len(mine) == 4
    del matchers
    for _ in range(2):
        SnapshotMatcher.open(tmp_path, last.version)
    gc.collect()
    mine = [path for path in opened._open if tmp_path in path.parents]
    assert mine == [tmp_path / "parts" / last.parts[0]]


def test_a_version_that_is_not_there_is_named(tmp_path: Path) -> None:
    opened_with(tmp_path)
    with pytest.raises(StateError, match="has no version 7"):
        SnapshotMatcher.open(tmp_path, 7)
