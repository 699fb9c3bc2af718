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

    variants      whether all 48 meet at the default sizes, or the representatives only
    whole_family  whether A to D have all chosen variants along every axis, or only at the
                  default sizes, and the representatives elsewhere
    clusters      how many types of executors E has beside the driver itself
    few           the experiments in which only RIS and RIsPS take part; in N, only RIS
    java          options of Java: what runs for minutes only is not worth its full compiler
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
    points: tuple[float, ...]
    jobs: tuple[int, ...]
    micro_batches: int
    clusters: int
    memory: tuple[int, ...]
    densify: float
    variants: bool = True
    whole_family: bool = False
    few: tuple[str, ...] = ()
    java: str = ""
    seed: int = 1


SCALES: Mapping[str, Scale] = MappingProxyType(
    {
        scale.name: scale
        for scale in (
            Scale(
                name="smoke",
                subs=60,
                pubs=40,
                warm=8,
                cells=4,
                files=2,
                partitions=(4, 9),
                subscriptions=(60,),
                publications=(40,),
                points=(0.4, 1.0),
                jobs=(2,),
                micro_batches=2,
                clusters=0,
                memory=(60,),
                densify=0.0,
                variants=False,
                java=_NO_FULL_COMPILER,
                few=("G", "I", "J", "K", "L", "M", "N", "8.4"),
            ),
            Scale(
                name="small",
                subs=500,
                pubs=500,
                warm=50,
                cells=20,
                files=2,
                partitions=(4, 20, 100),
                subscriptions=(100, 500, 2_000),
                publications=(100, 500, 2_000),
                points=(0.0, 0.4, 1.0),
                jobs=(1, 2),
                micro_batches=4,
                clusters=1,
                memory=(1_000,),
                densify=0.0,
                few=("E", "N"),
                java=_NO_FULL_COMPILER,
            ),
            Scale(
                name="full",
                subs=10_000,
                pubs=10_000,
                warm=200,
                cells=100,
                files=4,
                partitions=(4, 20, 100, 500, 2_500),
                subscriptions=(100, 1_000, 10_000, 100_000, 1_000_000),
                publications=(1_000, 10_000, 100_000),
                points=(0.0, 0.2, 0.4, 0.6, 0.8, 1.0),
                jobs=(1, 2, 4, 8),
                micro_batches=16,
                clusters=2,
                memory=(100, 1_000, 10_000),
                densify=0.001,
                whole_family=True,
            ),
        )
    }
)
"""`smoke` only shows that everything runs; `small` takes minutes; `full` takes hours."""
