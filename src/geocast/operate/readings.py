"""What was counted, as numbers: totals, and how delays are spread."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import inf

from geocast.operate.metrics import registry

__all__ = ["Readings", "Spread", "read_metrics"]


@dataclass(frozen=True, slots=True)
class Spread:
    """How many observations of a histogram lie in each bucket, by its upper end."""

    counts: dict[float, float]

    @property
    def count(self) -> int:
        """How many observations there are."""
        return round(sum(self.counts.values()))

    def since(self, earlier: Spread) -> Spread:
        """Return those that were added since then; all, where counting began anew."""
        left = {end: count - earlier.counts.get(end, 0.0) for end, count in self.counts.items()}
        return self if any(count < 0 for count in left.values()) else Spread(left)

    def quantile(self, share: float) -> float | None:
        """Return about what this share of the observations does not exceed; None without any.

        Observations are taken to lie evenly in their bucket; beyond the last one that has an
        end, its end is returned.
        """
        rank, start, below = share * sum(self.counts.values()), 0.0, 0.0
        if rank <= 0:
            return None
        for end in sorted(self.counts):
            inside = self.counts[end]
            if inside and below + inside >= rank:
                within = 0.0 if end == inf else (end - start) * (rank - below) / inside
                return start + within
            start, below = end, below + inside
        return start


class Readings:
    """What all processes of a service have counted up to now."""

    def __init__(self) -> None:
        self._samples = [sample for metric in registry().collect() for sample in metric.samples]

    def total(self, name: str) -> int:
        """Return the sum of a counter, whatever its labels."""
        return sum(self.by(name, "").values())

    def by(self, name: str, label: str) -> dict[str, int]:
        """Return a counter by the values of one of its labels."""
        found: Counter[str] = Counter()
        for sample in self._samples:
            if sample.name == f"{name}_total":
                found[sample.labels.get(label, "")] += round(sample.value)
        return dict(found)

    def spread(self, name: str, **labels: str) -> Spread:
        """Return how the observations of a histogram with these labels are spread."""
        upto: dict[float, float] = {}
        for sample in self._samples:
            if sample.name == f"{name}_bucket" and labels.items() <= sample.labels.items():
                end = float(sample.labels["le"])
                upto[end] = upto.get(end, 0.0) + sample.value
        counts, below = {}, 0.0
        for end in sorted(upto):
            counts[end], below = upto[end] - below, upto[end]
        return Spread(counts)


def read_metrics() -> Readings:
    """Return what all processes have counted up to now."""
    return Readings()
