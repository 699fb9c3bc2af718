"""How large the experiments are: the thesis's axes, cut to what one machine can do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

__all__ = ["SCALES", "Scale"]

_NO_FULL_COMPILER = "-XX:TieredStopAtLevel=1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """Default sizes, and the values along each axis.

    whole_family  the experiments along whose axes A to D have all chosen variants; along the
                  others, the representatives only
    clusters      how many types of executors E has beside the driver itself
    few           the experiments in which only RIS and RIsPS take part
    overhead      how many publications RIS and one process without Spark are compared with
    sedona        how many publications Apache Sedona is compared with
    verdicts      whether matching outweighs a job's fixed costs, so that verdicts tell something
    java          options of Java: what runs for minutes only is not worth its full compiler
    workers       Python workers among which memory is looked at, more than there are cores
    densify       of memory's subscriptions, which never repeat: no edge is longer, in degrees
    """

    name: str
    subs: int
    pubs: int
    warm: int
    cells: int
    files: int
    partitions: tuple[int, ...]
    subscriptions: tuple[int, ...]
    publications: tuple[int, ...]
    overhead: tuple[int, ...]
    sedona: int
    points: tuple[float, ...]
    jobs: tuple[int, ...]
    kafka: tuple[int, ...]
    micro_batches: int
    clusters: int
    memory: tuple[int, ...]
    workers: int
    densify: float
    whole_family: tuple[str, ...] = ()
    verdicts: bool = False
    few: tuple[str, ...] = ()
    java: str = ""
    seed: int = 1


SCALES: Mapping[str, Scale] = MappingProxyType(
    {
        scale.name: scale
        for scale in (
            Scale(
                name="small",
                subs=500,
                pubs=500,
                warm=0,
                cells=20,
                files=2,
                partitions=(4, 20, 100),
                subscriptions=(100, 500, 2_000),
                publications=(100, 500, 2_000),
                overhead=(500,),
                sedona=500,
                points=(0.0, 1.0),
                jobs=(2,),
                kafka=(2, 8),
                micro_batches=4,
                clusters=0,
                memory=(1_000,),
                workers=4,
                densify=0.0,
                few=("E", "H", "I", "K", "L", "M", "N"),
                java=_NO_FULL_COMPILER,
            ),
            Scale(
                name="full",
                subs=10_000,
                pubs=10_000,
                warm=200,
                cells=100,
                files=4,
                partitions=(4, 20, 100, 500),
                subscriptions=(100, 1_000, 10_000, 100_000),
                publications=(1_000, 10_000, 50_000),
                overhead=(10_000, 50_000, 200_000),
                sedona=1_000,
                points=(0.0, 0.4, 0.8, 1.0),
                jobs=(1, 2, 4, 8),
                kafka=(8, 32, 128),
                micro_batches=16,
                clusters=2,
                memory=(100, 1_000, 10_000),
                workers=8,
                densify=0.001,
                whole_family=("F",),
                few=("N",),
                verdicts=True,
            ),
        )
    }
)
"""`small` takes minutes; `full` takes most of an hour."""
