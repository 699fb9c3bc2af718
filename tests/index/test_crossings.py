"""Carrying a parity along a path over a run of edges, judged by exact rational numbers."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from geocast.match.index.trie import INSIDE, ON, OUTSIDE, UNKNOWN, cross_run

Point = tuple[float, float]

_ROUNDS = 4_000


def _side(a: Point, b: Point, c: Point) -> int:
    """Return the exact sign of c against a -> b."""
    (ax, ay), (bx, by), (cx, cy) = ((Fraction(x), Fraction(y)) for x, y in (a, b, c))
    turn = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
    return (turn > 0) - (turn < 0)


def _on(a: Point, b: Point, p: Point) -> bool:
    within = all(min(u, v) <= w <= max(u, v) for u, v, w in zip(a, b, p, strict=True))
    return within and _side(a, b, p) == 0


def _judged(run: list[Point], start: Point, end: Point) -> set[int]:
    """Return what may be said of `end` where `start` lies outside: ON only where that is so.

    A path that meets a vertex has no answer; one in line with a vertex may be left in doubt.
    """
    edges = list(itertools.pairwise(run))
    if any(_on(a, b, end) for a, b in edges):
        return {ON}
    if any(_on(start, end, v) for v in run) or any(_on(a, b, start) for a, b in edges):
        return {UNKNOWN}
    crossed = sum(
        _side(start, end, a) != _side(start, end, b) and _side(a, b, start) != _side(a, b, end)
        for a, b in edges
    )
    in_line = any(_side(start, end, v) == 0 for v in run)
    return {crossed % 2, UNKNOWN} if in_line else {crossed % 2}


def _said(run: list[Point], start: Point, end: Point) -> int:
    """Return what is said of `end`; from a start inside it must be the opposite, where decided."""
    outside, inside = (
        cross_run(np.array(run), 0, len(run) - 1, parity, *start, *end)
        for parity in (OUTSIDE, INSIDE)
    )
    assert inside == (outside ^ 1 if outside in (OUTSIDE, INSIDE) else outside)
    return int(outside)


def _points(rng: np.random.Generator, kind: str, count: int) -> list[Point]:
    lattice = rng.integers(0, 5, (count, 2)).astype(float)
    if kind == "lattice":
        return [(x, y) for x, y in lattice.tolist()]
    if kind == "far from the origin":  # where differences are few units in the last place
        return [(x, y) for x, y in (150.0 + lattice * 2.0**-44).tolist()]
    if kind == "nearly collinear":
        along = rng.uniform(0, 1, count)
        off = rng.integers(-2, 3, count) * 2.0**-52
        return [(x, y) for x, y in np.column_stack([along, along / 3 + off]).tolist()]
    return [(x, y) for x, y in rng.uniform(-180, 180, (count, 2)).tolist()]


@pytest.mark.parametrize("kind", ["lattice", "far from the origin", "nearly collinear", "anywhere"])
def test_a_run_is_crossed_as_exact_numbers_say(kind: str) -> None:
    rng = np.random.default_rng(7)
    decided = 0
    for _ in range(_ROUNDS):
        start, end, *run = _points(rng, kind, int(rng.integers(4, 8)))
        allowed, said = _judged(run, start, end), _said(run, start, end)
        assert said in allowed, f"{run} from {start} to {end}: {said}, not {allowed}"
        decided += len(allowed) == 1
    assert decided > _ROUNDS // 10


@pytest.mark.parametrize("parity", [OUTSIDE, INSIDE])
def test_a_run_without_edges_changes_nothing(parity: int) -> None:
    assert cross_run(np.zeros((1, 2)), 0, 0, parity, 0.0, 0.0, 1.0, 1.0) == parity
