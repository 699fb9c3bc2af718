"""What a peer is to the benchmark, and the pairs it answers with."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

__all__ = ["Pairs", "Peer"]


@dataclass(frozen=True, slots=True)
class Pairs:
    """Matches as row numbers: publication k matches subscription k, in any order."""

    publications: NDArray[np.int64]
    subscriptions: NDArray[np.int64]

    @classmethod
    def join(cls, parts: Iterable[tuple[NDArray[np.integer], NDArray[np.integer]]]) -> Self:
        """Return the pairs of all parts; a part is an array of each side."""
        nothing = np.empty(0, np.int64)
        publications, subscriptions = zip((nothing, nothing), *parts, strict=True)
        return cls(np.concatenate(publications), np.concatenate(subscriptions))

    def codes(self) -> NDArray[np.int64]:
        """Return one number for each pair, ascending, so that answers can be compared."""
        return np.sort((self.publications.astype(np.int64) << 32) | self.subscriptions)

    def __len__(self) -> int:
        return len(self.publications)


class Peer(ABC):
    """An engine with the subscriptions loaded; loading is not part of the rate.

    The answer need not be more than row numbers: so a peer is spared the cost of lists of ids,
    which Geocast's own rate includes.
    """

    name: ClassVar[str]

    @classmethod
    def reason_missing(cls) -> str | None:
        """Say why this peer cannot run here, or return None where it can."""
        return None

    @abstractmethod
    def __init__(self, subscriptions: pa.Table) -> None:
        """Load the columns `predicate` and `geometry`, and build what index the peer has."""

    @abstractmethod
    def match(self, publications: pa.Table) -> Pairs:
        """Decode the column `geometry`, and return all pairs, with one thread."""

    def cpu_seconds(self) -> float:
        """Return the CPU time that the peer has used so far."""
        return time.process_time()

    def close(self) -> None:  # noqa: B027  # most peers hold nothing but memory
        """Give back what the peer holds."""
