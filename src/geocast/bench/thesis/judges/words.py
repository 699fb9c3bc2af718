"""What judges share: curves in a number, numbers in words."""

from __future__ import annotations

from itertools import pairwise

__all__ = ["Judgement", "alike", "factors", "first_factor", "growth", "last", "last_factor", "told"]

Judgement = tuple[bool, str]
"""Whether a claim holds, and what was found."""

_ALIKE = 0.85


def alike(rates: dict[str, float]) -> Judgement:
    """Judge whether all have nearly the same rate."""
    slowest, fastest = min(rates, key=lambda n: rates[n]), max(rates, key=lambda n: rates[n])
    ratio = rates[slowest] / rates[fastest]
    return ratio > _ALIKE, f"{slowest} has {ratio:.2f} of {fastest}'s throughput"


def last(curve: dict[float, float]) -> float:
    """Return the value at the largest x."""
    return curve[max(curve)]


def growth(curve: dict[float, float]) -> float:
    """Return the value at the largest x by that at the smallest."""
    return curve[max(curve)] / max(curve[min(curve)], 1e-9)


def factors(curve: dict[float, float]) -> list[float]:
    """Return by what the values grow from point to point."""
    return [high / max(low, 1e-9) for low, high in pairwise(curve.values())]


def first_factor(curve: dict[float, float]) -> float:
    """Return by what the first point grows to the second."""
    return factors(curve)[0]


def last_factor(curve: dict[float, float]) -> float:
    """Return by what the last but one grows to the last."""
    return factors(curve)[-1]


def told(found: dict[str, float]) -> str:
    """Say factors in words."""
    return ", ".join(f"{name} {value:.2f}x" for name, value in found.items())
