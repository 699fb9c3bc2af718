"""From relations to lists of labels."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from geocast.match.predicate.relation import DOUBT
from geocast.match.relate.lists import Lists, room, sort_range

__all__ = ["emit_relations"]


@njit(cache=True, nogil=True)
def emit_relations(
    offsets: NDArray[np.int64], items: NDArray[np.int32], relation: NDArray[np.uint16],
    row_off: NDArray[np.int32], predicate: NDArray[np.int8], label: NDArray[np.int32],
    sort: bool, lists: Lists,
) -> NDArray[np.int32]:  # fmt: skip
    """List for each publication the labels of the rows whose predicate its relation holds.

    Rows row_off[g]:row_off[g + 1] stand on geometry g. Candidates in doubt emit nothing.
    """
    values, used = np.empty(max(1024, len(items)), np.int32), 0
    for q in range(len(offsets) - 1):
        start = used
        for k in range(offsets[q], offsets[q + 1]):
            holds = relation[k]
            if holds & DOUBT:
                continue
            g = items[k]
            values = room(values, used, row_off[g + 1] - row_off[g])
            for row in range(row_off[g], row_off[g + 1]):
                if (holds >> predicate[row]) & 1:
                    values[used] = label[row]
                    used += 1
        if sort:
            sort_range(values, start, used)
        lists.start[q] = start
        lists.length[q] = used - start
    return values[:used]
