"""Whole workloads against the oracle: 2,000 publications by 10,000 subscriptions.

The oracle asks every distinct pair for all predicates once (about a minute for each kind of
the benchmark's own workloads); mixed and single predicates are derived from that.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import geocast
from tests.match.comparison import (
    INDEX_NAMES,
    assert_pairs,
    found_pairs,
    publication_table,
    subscription_table,
)
from tests.match.real_data import SOURCES, Sides, drawn, sides_of
from tests.oracle.bulk import mixed_pairs, relation_pairs
from tests.oracle.spatial import Geometries, Pairs

KINDS = ("thesis", "unique", "densified")
NAMES = (
    "equals",
    "touches",
    "crosses",
    "within",
    "overlaps",
    "contains",
    "intersects",
    "covers",
    "coveredby",
)
SUBSCRIPTIONS, PUBLICATIONS = 10_000, 2_000


@cache
def workload(source: str, kind: str) -> Sides:
    make = drawn if source == "folder" else sides_of
    return make(kind, SUBSCRIPTIONS, PUBLICATIONS)


@cache
def relations(source: str, kind: str) -> dict[str, Pairs]:
    publications, areas, _ = workload(source, kind)
    return relation_pairs(publications, areas, NAMES)


def check(
    publications: Geometries,
    areas: Geometries,
    predicates: list[str],
    expected: Pairs,
    index: str = "cells",
) -> None:
    matcher = geocast.Matcher(subscription_table(areas, predicates), index=index)
    assert list(matcher.rejects) == []
    for _ in range(2):  # the second time with whatever was remembered of the first
        found = found_pairs(matcher.match(publication_table(publications)))
        assert_pairs(found, expected, lambda i, j: (predicates[j], publications[i], areas[j]))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("source", SOURCES)
def test_mixed_predicates(source: str, kind: str) -> None:
    publications, areas, predicates = workload(source, kind)
    held = relations(source, kind)
    own = np.array(predicates)
    parts = []
    for name, (rows, columns) in held.items():
        kept = own[columns] == name
        parts.append((rows[kept], columns[kept]))
    expected = np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])
    check(publications, areas, predicates, expected)


def check_predicate(source: str, kind: str, name: str) -> None:
    publications, areas, _ = workload(source, kind)
    check(publications, areas, [name] * len(areas), relations(source, kind)[name])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("source", SOURCES)
def test_each_predicate(source: str, name: str) -> None:
    check_predicate(source, "thesis", name)


@pytest.mark.full
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["unique", "densified"])
@pytest.mark.parametrize("source", SOURCES)
def test_each_predicate_of_the_other_kinds(source: str, kind: str, name: str) -> None:
    check_predicate(source, kind, name)


@pytest.mark.parametrize("kind", ["unique", "densified"])
@pytest.mark.parametrize("source", SOURCES)
def test_all_predicates_at_once(source: str, kind: str) -> None:
    publications, areas, _ = workload(source, kind)
    parts = [relations(source, kind)[name] for name in NAMES]
    expected = (
        np.concatenate([rows for rows, _ in parts]),
        np.concatenate([columns + code * len(areas) for code, (_, columns) in enumerate(parts)]),
    )
    predicates = np.repeat(NAMES, len(areas)).tolist()
    check(publications, np.tile(areas, len(NAMES)), predicates, expected)


@pytest.mark.parametrize("source", SOURCES)
def test_disjoint(source: str) -> None:
    publications, areas, _ = workload(source, "thesis")
    apart = np.ones((len(publications), len(areas)), dtype=bool)
    apart[relations(source, "thesis")["intersects"]] = False
    matcher = geocast.Matcher(subscription_table(areas, ["disjoint"] * len(areas)))
    for first in range(0, len(publications), 250):  # nearly all pairs match: a few at a time
        some = publications[first : first + 250]
        rows, columns = found_pairs(matcher.match(publication_table(some)))
        found = np.zeros((len(some), len(areas)), dtype=bool)
        found[rows, columns] = True
        assert np.count_nonzero(found) == len(rows), "a match is reported twice"
        wrong = found != apart[first : first + 250]
        extra, missing = (np.argwhere(wrong & side) for side in (found, ~found))
        assert_pairs(
            (extra[:, 0] + first, extra[:, 1]),
            (missing[:, 0] + first, missing[:, 1]),
            lambda i, j: ("disjoint", publications[i], areas[j]),
        )


@pytest.mark.parametrize("index", INDEX_NAMES)
@pytest.mark.parametrize("source", SOURCES)
def test_every_index(source: str, index: str) -> None:
    publications, areas, predicates = workload(source, "thesis")
    publications, areas, predicates = publications[:200], areas[:1_000], predicates[:1_000]
    predicates[::10] = ["disjoint"] * len(predicates[::10])
    expected = mixed_pairs(publications, areas, predicates)
    check(publications, areas, predicates, expected, index)


@pytest.mark.full
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("source", SOURCES)
def test_ten_thousand_publications(source: str, kind: str) -> None:
    make = drawn if source == "folder" else sides_of
    publications, areas, predicates = make(kind, SUBSCRIPTIONS, 10_000)
    check(publications, areas, predicates, mixed_pairs(publications, areas, predicates))
