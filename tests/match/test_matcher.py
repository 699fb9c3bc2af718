from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import shapely

import geocast
from geocast.errors import InputError, RejectedWarning
from geocast.model import MATCHES, Rejects
from tests.expressions import expression, feature_table
from tests.match.comparison import INDEX_NAMES

SQUARE = shapely.box(0, 0, 2, 2).wkb
INSIDE, OUTSIDE = shapely.Point(1, 1).wkb, shapely.Point(5, 5).wkb


@pytest.fixture(scope="module")
def publications() -> pa.Table:
    return feature_table(np.random.default_rng(31), 120)


@pytest.fixture(scope="module")
def subscriptions() -> pa.Table:
    rng = np.random.default_rng(32)
    texts = [expression(rng, 2) for _ in range(150)]
    return pa.table({"id": [f"s{k}" for k in range(len(texts))], "filter": texts})


def rows(table: pa.Table) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = table.to_pylist()
    return found


def test_one_match() -> None:
    subscriptions = pa.table({"id": ["s"], "geometry": [SQUARE]})
    publications = pa.table({"id": ["in", "out"], "geometry": [INSIDE, OUTSIDE]})
    matches = geocast.match(subscriptions, publications)
    assert matches.schema.equals(MATCHES)
    assert rows(matches) == [{"publication": "in", "subscriptions": ["s"]}]


def test_ids_are_sorted_as_text_and_publications_keep_their_order() -> None:
    ids = ["s10", "s9", "é", "S", " ", "s1", "z"]
    subscriptions = pa.table({"id": ids, "geometry": [SQUARE] * len(ids)})
    publications = pa.table({"id": ["b", "a", "c"], "geometry": [INSIDE, OUTSIDE, INSIDE]})
    expected = sorted(ids)
    assert rows(geocast.match(subscriptions, publications)) == [
        {"publication": "b", "subscriptions": expected},
        {"publication": "c", "subscriptions": expected},
    ]


def test_a_matcher_says_which_attributes_its_filters_use() -> None:
    texts = ["a > 1 OR b.c = 'x'", "S_WITHIN(geometry, BBOX(0, 0, 1, 1)) AND NOT d IS NULL"]
    matcher = geocast.Matcher(pa.table({"id": ["s", "t"], "filter": texts}))
    assert matcher.properties == {"a", "b.c", "d"}


def test_batches_give_what_the_whole_gives(subscriptions: pa.Table, publications: pa.Table) -> None:
    matcher = geocast.Matcher(subscriptions)
    whole = rows(matcher.match(publications))
    assert whole
    pieces = [
        row
        for batch in publications.combine_chunks().to_batches(max_chunksize=17)
        for row in rows(matcher.match(batch))
    ]
    assert pieces == whole


def test_slices_and_chunks_are_read_from_their_own_beginning(
    subscriptions: pa.Table, publications: pa.Table
) -> None:
    matcher = geocast.Matcher(subscriptions)
    whole = rows(matcher.match(publications))
    kept = set(publications["id"].to_pylist()[37:90])
    expected = [row for row in whole if row["publication"] in kept]
    assert rows(matcher.match(publications.slice(37, 53))) == expected
    chunked = pa.concat_tables([publications.slice(37, 20), publications.slice(57, 33)])
    assert rows(matcher.match(chunked)) == expected
    sliced = geocast.Matcher(subscriptions.slice(40, 60))
    some = set(subscriptions["id"].to_pylist()[40:100])
    assert rows(sliced.match(publications)) == [
        {"publication": row["publication"], "subscriptions": own}
        for row in whole
        if (own := [name for name in row["subscriptions"] if name in some])
    ]


def test_the_order_of_subscriptions_does_not_matter(
    subscriptions: pa.Table, publications: pa.Table
) -> None:
    order = pa.array(np.random.default_rng(1).permutation(len(subscriptions)))
    shuffled = geocast.Matcher(subscriptions.take(order))
    assert rows(shuffled.match(publications)) == rows(
        geocast.Matcher(subscriptions).match(publications)
    )


@pytest.mark.parametrize("index", INDEX_NAMES)
def test_a_saved_matcher_answers_as_before(
    tmp_path: Path, subscriptions: pa.Table, publications: pa.Table, index: str
) -> None:
    matcher = geocast.Matcher(subscriptions, index=index)
    matcher.save(tmp_path / "saved")
    opened = geocast.Matcher.open(tmp_path / "saved")
    assert opened.properties == matcher.properties
    assert rows(opened.match(publications)) == rows(matcher.match(publications))


def test_answer_gives_matches_and_rejected_rows_of_the_batch() -> None:
    matcher = geocast.Matcher(pa.table({"id": ["s"], "geometry": [SQUARE]}))
    batch = pa.record_batch({"id": ["a", "b"], "geometry": [b"no", INSIDE]})
    answer = matcher.answer(batch)
    assert rows(answer.matches) == [{"publication": "b", "subscriptions": ["s"]}]
    ((row, name, reason),) = answer.rejected
    assert (row, name) == (0, "a")
    assert reason


def test_empty_sides() -> None:
    subscriptions = pa.table({"id": ["s"], "geometry": [SQUARE]})
    publications = pa.table({"id": ["p"], "geometry": [INSIDE]})
    for ours, theirs in (
        (subscriptions.slice(0, 0), publications),
        (subscriptions, publications.slice(0, 0)),
        (subscriptions.slice(0, 0), publications.slice(0, 0)),
    ):
        matches = geocast.match(ours, theirs)
        assert matches.schema.equals(MATCHES)
        assert len(matches) == 0


def test_a_batch_may_lack_the_attributes_that_another_had() -> None:
    matcher = geocast.Matcher(pa.table({"id": ["s", "t"], "filter": ["n > 1", "n IS NULL"]}))
    with_n = pa.table({"id": ["p"], "geometry": [INSIDE], "n": [2]})
    as_text = pa.table({"id": ["p"], "geometry": [INSIDE], "n": ["2"]})
    without = pa.table({"id": ["p"], "geometry": [INSIDE]})
    assert rows(matcher.match(with_n))[0]["subscriptions"] == ["s"]
    assert rows(matcher.match(as_text)) == []
    assert rows(matcher.match(without))[0]["subscriptions"] == ["t"]


@pytest.mark.parametrize("kind", [pa.large_string(), pa.string_view()], ids=str)
def test_other_columns_of_text(kind: pa.DataType) -> None:
    subscriptions = pa.table({"id": ["s"], "filter": ["n = 'x'"], "predicate": ["within"]})
    publications = pa.table({"id": ["p"], "geometry": [INSIDE], "n": ["x"]})
    ours = pa.table({name: subscriptions[name].cast(kind) for name in ("id", "filter")})
    theirs = publications.set_column(0, "id", publications["id"].cast(kind))
    theirs = theirs.set_column(2, "n", publications["n"].cast(kind))
    assert rows(geocast.match(ours, theirs)) == [{"publication": "p", "subscriptions": ["s"]}]


def test_rejects_are_collected_or_warned_of() -> None:
    subscriptions = pa.table({"id": ["s", "t"], "geometry": [SQUARE, b"no"]})
    publications = pa.table({"id": ["p", "q"], "geometry": [INSIDE, b"no"]})
    rejects = Rejects()
    collected = geocast.match(subscriptions, publications, rejects=rejects)
    assert [(reject.side, reject.row, reject.id) for reject in rejects] == [
        ("subscriptions", 1, "t"),
        ("publications", 1, "q"),
    ]
    with pytest.warns(RejectedWarning):
        warned = geocast.match(subscriptions, publications)
    assert rows(warned) == rows(collected)


def test_an_unknown_index_is_refused_with_the_choices() -> None:
    with pytest.raises(InputError, match="cells"):
        geocast.Matcher(pa.table({"id": ["s"], "geometry": [SQUARE]}), index="abacus")


def test_matching_twice_gives_the_same() -> None:
    rng = np.random.default_rng(9)
    table = feature_table(rng, 50)
    texts = [expression(rng, 2) for _ in range(50)]
    matcher = geocast.Matcher(pa.table({"id": [str(k) for k in range(50)], "filter": texts}))
    assert rows(matcher.match(table)) == rows(matcher.match(table))
