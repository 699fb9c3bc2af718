"""The judge itself: it must notice each kind of breach."""

from __future__ import annotations

from collections import Counter
from typing import Any, cast

import numpy as np
import orjson
import shapely

from geocast.bench.chaos.actors import Subscriber
from geocast.bench.chaos.judge import Heard, Published, Stood, compare, expected, late_activations
from geocast.bench.chaos.topics import MATCHES, WITHDRAWALS, _note
from geocast.bench.chaos.trial import Account, _judge_told
from geocast.bench.chaos.world import Interest
from geocast.model import Bundle, BundledMatch, Kind, bundle_event

AREA = {"type": "Polygon", "coordinates": [[[0, 0], [2, 0], [2, 2], [0, 2], [0, 0]]]}


def events() -> Published:
    return Published(
        ids=["in", "edge", "out", "later"],
        geometries=np.array(
            [
                shapely.Point(1, 1),
                shapely.Point(0, 1),
                shapely.Point(9, 9),
                shapely.Point(1, 1),
            ],
            dtype=object,
        ),
        levels=np.array([5, 5, 5, 1]),
        batch=np.array([0, 0, 0, 1]),
        snapshot=np.array([3, 3, 3, 4]),
        times=np.array([10, 11, 12, 20]),
    )


def stood(predicate: str, least: int | None, first: int | None, last: int | None) -> Stood:
    return Stood("s", 1, Interest(AREA, predicate, least), first, last)


def names(found: Counter[Heard]) -> list[str]:
    return sorted(match[0] for match in found)


def test_predicate_filter_and_versions_decide() -> None:
    assert names(expected(events(), [stood("intersects", None, 1, None)], frozenset())) == [
        "edge",
        "in",
        "later",
    ]
    assert names(expected(events(), [stood("within", None, 1, None)], frozenset())) == [
        "in",
        "later",
    ]
    assert names(expected(events(), [stood("within", 5, 1, None)], frozenset())) == ["in"]
    assert names(expected(events(), [stood("within", None, 4, None)], frozenset())) == ["later"]
    assert names(expected(events(), [stood("within", None, 1, 4)], frozenset())) == ["in"]
    assert names(expected(events(), [stood("within", None, None, None)], frozenset())) == []


def test_what_was_withdrawn_is_not_expected() -> None:
    found = expected(events(), [stood("within", None, 1, None)], frozenset({"in"}))
    assert names(found) == ["later"]


def test_each_breach_has_its_name() -> None:
    must = Counter({("a", "s", 1): 1, ("b", "s", 1): 1})
    wrong = compare("who", {("a", "s", 1): 2, ("c", "s", 1): 1}, must)
    assert sorted(found.guarantee for found in wrong) == ["legality", "liveness", "uniqueness"]
    assert compare("who", dict(must), must) == []


def test_a_match_without_a_subscription_that_was_seen_active_is_noticed() -> None:
    versions = [stood("within", None, 4, None)]
    assert late_activations(events(), versions, {("s", 1): 15}) == []
    assert len(late_activations(events(), versions, {("s", 1): 11})) == 1
    assert len(late_activations(events(), [stood("within", None, None, None)], {("s", 1): 9})) == 4


def in_topic(kind: Kind) -> dict[str, Any]:
    matches = [BundledMatch("m", "s", 1), BundledMatch("n", "t", 2)]
    one = Bundle(1, kind, matches, "press", "p", 5, 6, b'{"type":"Feature"}')
    found: dict[str, Any] = orjson.loads(bundle_event(one))
    return found


def test_what_stands_in_topics_is_told_apart_by_its_kind() -> None:
    told: dict[str, Counter[Heard]] = {MATCHES: Counter(), WITHDRAWALS: Counter()}
    for kind in (Kind.MATCH, Kind.WITHDRAWAL):
        _note(in_topic(kind), told)
    heard = Counter({("p", "s", 1): 1, ("p", "t", 2): 1})
    assert told == {MATCHES: heard, WITHDRAWALS: heard}


def test_withdrawals_are_judged_too() -> None:
    account, match = Account("topic", 1, cast(Subscriber, None)), ("p", "s", 1)
    once: Counter[Heard] = Counter({match: 1})
    nothing: Counter[Heard] = Counter()

    def wrong(told: Counter[Heard], back: Counter[Heard], gone: frozenset[str]) -> list[str]:
        must = nothing if gone else once
        return [one.guarantee for one in _judge_told(account, told, back, must, gone)]

    gone = frozenset({"p"})
    assert wrong(once, once, gone) == []
    assert wrong(once, nothing, frozenset()) == []
    assert wrong(once, nothing, gone) == ["liveness"]
    assert wrong(once, once + once, gone) == ["uniqueness"]
    assert wrong(once, once, frozenset()) == ["legality"]
