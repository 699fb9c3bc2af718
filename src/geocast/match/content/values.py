"""What an operand is worth for every row of a batch: numpy arrays with a mask.

`valid` is False where there is no value of the kind asked for; `data` is then meaningless but
harmless (never NaN). Arrays of length 1 stand for a constant and broadcast.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

__all__ = ["Booleans", "Instants", "Mask", "Numbers", "Strings", "Truth"]

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Truth:
    """Three-valued: `value` counts where `known`, and is False elsewhere."""

    value: Mask
    known: Mask

    def negated(self) -> Truth:
        """NOT: what is unknown stays unknown."""
        return Truth(self.known & ~self.value, self.known)

    def __or__(self, other: Truth) -> Truth:
        value = self.value | other.value
        return Truth(value, value | (self.known & other.known))


@dataclass(frozen=True, slots=True)
class Numbers:
    """int64 or float64, or Python numbers where neither holds them exactly.

    `whole` tells which of float64 data are integers to arithmetic; without it, none of them is.
    """

    data: NDArray[Any]
    valid: Mask
    whole: Mask | None = None


@dataclass(frozen=True, slots=True)
class Strings:
    """Arrow large strings, null where not valid."""

    data: pa.LargeStringArray
    valid: Mask


@dataclass(frozen=True, slots=True)
class Booleans:
    """TRUE and FALSE as values."""

    data: Mask
    valid: Mask


@dataclass(frozen=True, slots=True)
class Instants:
    """Microseconds since 1970 in UTC; where `day`, the whole day that begins then."""

    data: NDArray[np.int64]
    valid: Mask
    day: Mask
