"""Which parts to join, so that there are never many and none holds much that stands no more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from geocast.match.partition.division import Divider
from geocast.snapshot.numbers import Numbers

__all__ = ["MergePlan", "choose_parts", "size_class"]

_SMALLEST: Final = 512
_FACTOR: Final = 8
_MOST_OF_A_CLASS: Final = 3
_MOST_REMOVED: Final = 0.25


@dataclass(frozen=True, slots=True, eq=False)
class MergePlan:
    """Parts to be joined, as they are in a version.

    `vnumbers` are the subscription versions of these parts that stand in it, sorted, and
    `through` is the change up to which it knows. The joined part is divided by `divider`. A plan
    may be sent to another process.
    """

    version: int
    through: int
    parts: tuple[str, ...]
    vnumbers: Numbers
    divider: Divider | None = None


def size_class(standing: int) -> int:
    """Return the class of a part: 0 up to 512 subscriptions, then one for each factor of 8."""
    own, largest = 0, _SMALLEST
    while standing > largest:
        own, largest = own + 1, largest * _FACTOR
    return own


def choose_parts(sizes: Mapping[str, tuple[int, int]]) -> tuple[str, ...]:
    """Choose parts to join by what each holds and how much of that is removed; () for none.

    A class that has more than three parts is joined, or a part of which more than a quarter is
    removed, both together with everything smaller. So there are at most three parts of each
    class once all is done, and a subscription is written a few times for each class.
    """
    classes = {name: size_class(held - removed) for name, (held, removed) in sizes.items()}
    crowded = [c for c, parts in Counter(classes.values()).items() if parts > _MOST_OF_A_CLASS]
    if crowded:
        return tuple(name for name, own in classes.items() if own <= max(crowded))
    hollow = [name for name, (held, gone) in sizes.items() if gone > _MOST_REMOVED * held]
    if not hollow:
        return ()
    largest = max(hollow, key=lambda name: sizes[name][0])
    return tuple(n for n, own in classes.items() if n == largest or own < classes[largest])
