"""Collections of several kinds of geometry, and the small tools that make them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from geocast.bench.workload.recipe import Geometries

__all__ = ["Part", "group", "mix", "some"]

Part = tuple[float, Callable[[int], Geometries]]
"""A share of a mixture, and the function that draws so many geometries of its kind."""


def mix(rng: np.random.Generator, total: int, parts: Sequence[Part]) -> Geometries:
    """Draw a mixture in random order, so that every slice of it is mixed alike."""
    counts = [int(total * share) for share, _ in parts]
    counts[0] += total - sum(counts)
    drawn = [draw(count) for count, (_, draw) in zip(counts, parts, strict=True) if count]
    return np.concatenate(drawn)[rng.permutation(total)]


def some(rng: np.random.Generator, geometries: Geometries, count: int) -> Geometries:
    """Draw so many of the geometries, with repetition."""
    return geometries[rng.integers(0, len(geometries), count)]


def group(
    combine: Callable[[Geometries], Geometries], members: Geometries, rows: NDArray[np.int64]
) -> Geometries:
    """Combine the members of each row of a matrix of indexes into one geometry."""
    combined = np.empty(len(rows), dtype=object)
    for place, row in enumerate(rows):
        combined[place] = combine(members[row])
    return combined
