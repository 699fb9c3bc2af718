from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from geocast.language import AttributeConstraint
from geocast.match.content import Scan, evaluate
from geocast.match.content import scan as scan_module
from geocast.match.content.evaluate import Evaluator
from geocast.match.content.values import Truth
from tests.content.batches import batch_of
from tests.content.test_evaluate import constraint

TEXTS = ("mag >= 4", "mag < 6", "place LIKE 'A%'", "NOT (depth = 10)", "felt", "detail.x IS NULL")
CONSTRAINTS = [constraint(text) for text in TEXTS]
BATCH = batch_of(
    {
        "mag": [3.5, 4.0, None, 7.0, 5.0],
        "place": ["Alaska", "Chile", "Asia", None, "A"],
        "depth": [10, 20, None, 10, 30],
        "felt": [True, None, False, True, True],
    }
)


def make(filters: Sequence[Sequence[int]]) -> Scan:
    offsets = np.cumsum([0, *map(len, filters)]).astype(np.int64)
    items = np.array([item for needed in filters for item in needed], np.int32)
    return Scan(CONSTRAINTS, offsets, items)


def every_pair(filters: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    pairs = np.indices((BATCH.num_rows, filters), np.int32).reshape(2, -1)
    return pairs[0], pairs[1]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(st.integers(0, len(TEXTS) - 1), max_size=4), min_size=1, max_size=6))
def test_accepts_pairs_whose_constraints_are_all_true(filters: list[list[int]]) -> None:
    publications, rows = every_pair(len(filters))
    truths = [evaluate(c, BATCH).to_pylist() for c in CONSTRAINTS]
    expected = [
        all(truths[item][publication] is True for item in filters[row])
        for publication, row in zip(publications, rows, strict=True)
    ]
    assert make(filters).accepts(BATCH, publications, rows).tolist() == expected


def test_each_constraint_that_occurs_is_evaluated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[AttributeConstraint] = []

    class Counting(Evaluator):
        def truth(self, constraint: AttributeConstraint) -> Truth:
            seen.append(constraint)
            return super().truth(constraint)

    monkeypatch.setattr(scan_module, "Evaluator", Counting)
    scan = make([[0, 1], [1, 2], [3]])
    scan.accepts(BATCH, np.array([0, 1, 2, 3], np.int32), np.array([0, 1, 1, 0], np.int32))
    assert seen == CONSTRAINTS[:3]


def test_properties_are_the_names_in_use() -> None:
    assert make([[0], [1, 2]]).properties == {"mag", "place", "depth", "felt", "detail.x"}
    nested = constraint("T_DURING(INTERVAL(a, b), INTERVAL(c, '..'))")
    arrays = constraint("A_CONTAINS(d, (e, CASEI(f)))")
    offsets, items = np.zeros(1, np.int64), np.zeros(0, np.int32)
    assert Scan([nested, arrays], offsets, items).properties == set("abcdef")


def test_no_candidates_and_no_constraints() -> None:
    none = np.zeros(0, np.int32)
    assert make([[0]]).accepts(BATCH, none, none).tolist() == []
    empty = Scan([], np.zeros(3, np.int64), none)
    assert empty.properties == frozenset()
    rows = np.array([0, 1], np.int32)
    assert empty.accepts(BATCH, rows, rows).tolist() == [True, True]


def test_mapped_arrays_are_read_and_never_written(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("scan")
    np.save(folder / "offsets.npy", np.array([0, 1, 3], np.int64))
    np.save(folder / "items.npy", np.array([0, 1, 2], np.int32))
    offsets = np.load(folder / "offsets.npy", mmap_mode="r")
    items = np.load(folder / "items.npy", mmap_mode="r")
    publications, rows = every_pair(2)
    mapped = Scan(CONSTRAINTS, offsets, items).accepts(BATCH, publications, rows)
    assert mapped.tolist() == make([[0], [1, 2]]).accepts(BATCH, publications, rows).tolist()


def test_a_batch_without_the_columns_accepts_nothing() -> None:
    batch = pa.record_batch({"other": [1, 2]})
    rows = np.zeros(2, np.int32)
    assert make([[0]]).accepts(batch, np.array([0, 1], np.int32), rows).tolist() == [False, False]
