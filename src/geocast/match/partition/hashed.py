"""Hash: a partition for each id, wherever its geometry lies.

Perfectly even and of no use for looking anything up by place: it serves algorithms that know the
ids that they want.
"""

from __future__ import annotations

from collections.abc import Iterable
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

__all__ = ["hashed"]


def hashed(ids: Iterable[str], count: int) -> NDArray[np.int32]:
    """Return the partition of each id, 0 to `count` - 1; the same in every process."""
    return np.fromiter((crc32(one.encode()) % count for one in ids), np.int32)
