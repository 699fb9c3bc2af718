"""The shares that a worker process has open: those of what it works on, while they are not much.

A matcher keeps what recurring publications matched, and geometries that GEOS has prepared: private
memory of the process, unlike the files that it maps. Where that has become too much, everything is
let go, and opened again when it is needed.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Final

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.compute as pc

from geocast.match.divided import EVERYWHERE, Divided, Share
from geocast.match.matcher import Matcher

__all__ = ["OpenShares", "shares"]

_MOST_PRIVATE: Final = 1 << 30


class OpenShares:
    """Shares by folder and name, opened once."""

    def __init__(self) -> None:
        self._open: dict[tuple[Path, str], Share] = {}

    def of(self, divided: Divided, name: str) -> Share:
        """Return a share of divided subscriptions."""
        key = divided.directory, name
        if key not in self._open:
            self._open[key] = divided.share(name)
        return self._open[key]

    def everywhere(self, divided: Divided) -> Share:
        """Return the share of those that have no place."""
        return self.of(divided, EVERYWHERE)

    def whole(self, folder: Path) -> Share:
        """Return a matcher that is not divided, whose ids are numbers, as a share."""
        key = folder, ""
        if key not in self._open:
            matcher = Matcher.open(folder)
            numbers = pc.cast(matcher.ids, pa.int64()).to_numpy(zero_copy_only=False)
            self._open[key] = Share(matcher, numbers, np.empty((0, 4)))
        return self._open[key]

    def keep_only(self, folders: AbstractSet[Path]) -> None:
        """Let go of all that lies in other folders."""
        self._open = {key: share for key, share in self._open.items() if key[0] in folders}

    def limit(self) -> None:
        """Let go of everything if this process has come to hold too much for itself."""
        memory = psutil.Process().memory_info()
        if memory.rss - memory.shared > _MOST_PRIVATE:
            self._open.clear()

    def __len__(self) -> int:
        """Return how many are open."""
        return len(self._open)


shares = OpenShares()
"""Those of this process."""
