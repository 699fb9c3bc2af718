"""Watches how long the partitions of divided parts take, and tells when that is too uneven."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final

from geocast.match.partition.adapt import Load, add_load, imbalance
from geocast.pipeline.task import Outcome

__all__ = ["Balance"]

_UNEVEN: Final = 1.8
_BATCHES: Final = 10
_SECONDS: Final = 1.0
_FADING: Final = 0.9
_PLACES: Final = 500


class Balance:
    """The loads of the last batches, older ones counting less.

    A part is told of once it was watched for ten batches and a second of work, and then again
    after as much. One that is made anew has a new name and so begins anew.
    """

    def __init__(self) -> None:
        self._loads: dict[str, dict[int, Load]] = {}
        self._watched: dict[str, int] = {}

    def uneven(
        self, outcomes: Iterable[Outcome], parts: Collection[str]
    ) -> Iterator[tuple[str, Mapping[int, Load]]]:
        """Add the loads of a batch, and yield the parts whose slowest partition stands out.

        `parts` are those that there are; others are forgotten.
        """
        fresh: dict[str, dict[int, Load]] = {part: {} for part in parts}
        for outcome in outcomes:
            for part, loads in outcome.loads.items():
                for partition, load in loads.items():
                    add_load(fresh.setdefault(part, {}), partition, load)
        self._watched = {part: self._watched.get(part, 0) + bool(fresh[part]) for part in fresh}
        self._loads = {part: self._joined(part, loads) for part, loads in fresh.items()}
        for part, loads in self._loads.items():
            seconds = sum(load.seconds for load in loads.values())
            if self._watched[part] >= _BATCHES and seconds >= _SECONDS:
                self._watched[part] = 0
                if imbalance(loads) > _UNEVEN:
                    yield part, loads

    def _joined(self, part: str, fresh: Mapping[int, Load]) -> dict[int, Load]:
        old = self._loads.get(part, {})
        loads = {partition: load.faded(_FADING, _PLACES) for partition, load in old.items()}
        for partition, load in fresh.items():
            add_load(loads, partition, load)
        return loads
