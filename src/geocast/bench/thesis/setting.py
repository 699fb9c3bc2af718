"""What one measurement is made with, and what it finds."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass
from typing import Any, Literal

from geocast.bench.workload import Recipe
from geocast.errors import GeocastError

__all__ = ["Found", "NotMeasurableError", "Setting", "Way"]

Way = Literal["batch", "match", "stream", "kafka", "memory", "threads", "plain", "sedona"]
"""How to measure: a Spark job on files, one as `geocast match` runs it, streaming queries on files,
one on a topic of Kafka, the memory of a Spark job, threads without Spark, the same with plain
predicates, or a spatial join of Apache Sedona."""

_CORES = re.compile(r"local(?:-cluster\[(\d+),(\d+),\d+\]|\[(\d+)\])")


class NotMeasurableError(GeocastError):
    """A setting cannot be measured on this machine; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One measurement: who matches what, on what.

    cells   partitions of the subscriptions; 0 for those who do not partition them
    master  the Spark master, or `threads[n]` where there is no Spark
    jobs    streaming queries at once
    files   files that the publications lie in: tasks of a batch, micro-batches of a stream; or
            partitions of a topic of Kafka
    warm    publications matched beforehand; they are none of those that count
    """

    way: Way
    engine: str
    recipe: Recipe
    cells: int
    master: str
    files: int
    warm: int
    jobs: int = 1

    @property
    def cores(self) -> int:
        """How many cores work on it."""
        found = _CORES.fullmatch(self.master)
        if found is None:
            return int(self.master.partition("[")[2].rstrip("]"))
        executors, each, alone = found.groups()
        return int(alone) if alone else int(executors) * int(each)

    def key(self, place: str) -> str:
        """Return what stands for this setting at that place (machine and data) in a journal."""
        text = json.dumps([place, asdict(self)], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:24]

    def flat(self) -> dict[str, Any]:
        """Return all that was set, as columns of a table."""
        told = asdict(self)
        recipe = told.pop("recipe")
        kept = ("subs", "pubs", "points", "predicate", "unique", "densify", "seed")
        return told | {"cores": self.cores} | {name: recipe[name] for name in kept}

    def __str__(self) -> str:
        topic = f" of {self.files} partitions" if self.way == "kafka" else ""
        return (
            f"{self.engine}, {self.way}{topic} on {self.master}: "
            f"{self.recipe.pubs:,} publications, {self.recipe.subs:,} subscriptions"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a measurement gave; memory is of the worker that takes most, in bytes.

    rate             publications a second, by the clock on the wall
    latency          seconds from the beginning to the end of a micro-batch, a publication
    build_seconds    to index and place the subscriptions
    static_unshared  what a worker holds alone, ready to match, beyond an idle worker
    static_shared    mapped files of subscriptions and indexes that it has in memory
    dynamic          the most that it holds alone while it matches, beyond that
    machine          the most that all workers hold together; what is shared counts once
    pairs            how many matches there are
    matches          a digest of all matches: the same for the same matches
    """

    rate: float
    seconds: float
    build_seconds: float
    pairs: int
    matches: str
    latency: float | None = None
    static_unshared: int | None = None
    static_shared: int | None = None
    dynamic: int | None = None
    machine: int | None = None
