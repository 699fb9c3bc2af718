from __future__ import annotations

from collections.abc import Collection

import numpy as np

from geocast.match.partition.adapt import Load
from geocast.pipeline.balance import Balance
from geocast.pipeline.task import Outcome

Told = list[tuple[str, dict[int, float]]]


def batch(
    balance: Balance,
    loads: dict[str, dict[int, float]],
    parts: Collection[str] = ("a",),
    places: int = 20,
) -> Told:
    """Let two tasks have half of the loads each; return what is told, as seconds."""
    halves = {
        part: {number: Load(seconds / 2, np.zeros((places // 2, 2))) for number, seconds in own}
        for part, own in ((part, own.items()) for part, own in loads.items())
    }
    outcomes = [Outcome(0, 0, 1, 1, 1, 1, loads=halves) for _ in range(2)]
    return [
        (part, {number: load.seconds for number, load in own.items()})
        for part, own in balance.watched(outcomes, parts)
    ]


def test_three_batches_are_told_of_but_not_the_very_first() -> None:
    balance = Balance()
    assert batch(balance, {"a": {0: 100.0, 1: 100.0}}) == []
    assert batch(balance, {"a": {0: 1.0}}) == []
    assert batch(balance, {"a": {0: 1.0, 1: 4.0}}) == []
    assert batch(balance, {"a": {0: 2.0}}) == [("a", {0: 4.0, 1: 4.0})]
    assert batch(balance, {"a": {0: 7.0}}) == []
    assert batch(balance, {"a": {0: 7.0}}) == []
    assert batch(balance, {"a": {0: 7.0}}) == [("a", {0: 21.0})]


def test_few_publications_are_gathered_for_longer() -> None:
    balance = Balance()
    told = [batch(balance, {"a": {0: 1.0, 1: 1.0}}, places=2) for _ in range(12)]
    assert told[:10] == [[]] * 10
    assert told[10] == [("a", {0: 10.0, 1: 10.0})]
    assert told[11] == []


def test_parts_are_watched_apart() -> None:
    balance = Balance()
    for _ in range(3):
        assert batch(balance, {"a": {0: 1.0}}, ["a", "b"]) == []
    assert batch(balance, {"a": {0: 1.0}, "b": {0: 9.0}}, ["a", "b"]) == [("a", {0: 3.0})]


def test_a_part_that_is_gone_is_forgotten() -> None:
    balance = Balance()
    for _ in range(3):
        assert batch(balance, {"a": {0: 1.0}}) == []
    assert batch(balance, {"a": {0: 1.0}}, ["b"]) == []
    told = [batch(balance, {"a": {0: 1.0}}) for _ in range(4)]
    assert told == [[], [], [], [("a", {0: 3.0})]]


def test_a_batch_without_work_is_no_batch() -> None:
    balance = Balance()
    for _ in range(3):
        assert batch(balance, {"a": {0: 1.0}}) == []
        assert batch(balance, {}) == []
    assert batch(balance, {"a": {0: 1.0}}) == [("a", {0: 3.0})]
