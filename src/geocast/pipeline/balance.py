"""Watches how long the partitions of divided parts take."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from geocast.match.partition.adapt import Load, add_load
from geocast.pipeline.task import Outcome

__all__ = ["Balance"]

_BATCHES: Final = 3
_PLACES: Final = 20
"""So many publications of a partition, on average, tell its load from chance."""


class Balance:
    """The loads of every part's partitions since it was told of last.

    A part is told of when three batches and enough publications are known of it. One that is made
    anew has a new name and so begins anew; its first batch does not count, for what partitions do
    only once takes longer than their publications.
    """

    def __init__(self) -> None:
        self._watches: dict[str, _Watch] = {}

    def watched(
        self, outcomes: Iterable[Outcome], parts: Collection[str]
    ) -> Iterator[tuple[str, Mapping[int, Load]]]:
        """Add the loads of a batch, and yield the parts that were watched for long enough.

        `parts` are those that there are; others are forgotten.
        """
        self._watches = {part: self._watches.get(part) or _Watch() for part in parts}
        fresh: dict[str, dict[int, Load]] = {}
        for outcome in outcomes:
            for part in outcome.loads.keys() & self._watches.keys():
                for partition, load in outcome.loads[part].items():
                    add_load(fresh.setdefault(part, {}), partition, load)
        for part, loads in fresh.items():
            watch = self._watches[part]
            watch.add(loads)
            if watch.is_enough():
                yield part, watch.loads
                watch.begin()


@dataclass(slots=True)
class _Watch:
    batches: int = -1
    loads: dict[int, Load] = field(default_factory=dict)

    def begin(self) -> None:
        self.batches, self.loads = 0, {}

    def add(self, loads: Mapping[int, Load]) -> None:
        self.batches += 1
        if self.batches > 0:
            for partition, load in loads.items():
                add_load(self.loads, partition, load)

    def is_enough(self) -> bool:
        places = sum(len(load.where) for load in self.loads.values())
        return self.batches >= _BATCHES and places >= _PLACES * len(self.loads)
