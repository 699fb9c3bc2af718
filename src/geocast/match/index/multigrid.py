"""Multilevel grid: several grids over one another, each item in the one that suits its size.

**What it is.** Grids of 1, 2 x 2, 4 x 4, ... cells over the extent of the items. An item is
stored in the finest grid in which it meets at most two columns and two rows, in each of the
one to four cells that it meets. A query looks at the cells that it meets in every grid.

**How it is built.** Items are brought into Hilbert order, for nearness in memory. The
corners of their boxes become columns and rows of the finest grid, which has about `FINENESS`
times sqrt(n) of either; those of a coarser grid follow by dropping bits. Only occupied cells
are stored, sorted by grid, row and column. Each row of each grid knows its first occupied
cell, from which a query bisects for its first column.

**No duplicates.** An item may stand in several of the cells that a query meets. It is
reported in one of them only, the reference cell: the one in the larger of the first columns
of item and query, and in the larger of their first rows. Both meet that cell, so it always
is among those looked at.

**When it is weak.** The finest grid is the same everywhere: where most items crowd into a
small part of the extent, its cells there hold many. A query much larger than the items looks
at many cells. Each item takes up to four entries.

**Where it comes from.** Grids by size: N. Koudas, K. C. Sevcik: "Size separation spatial
join", SIGMOD 1997; C. Ericson: "Real-time collision detection", 2005, chapter 7. The
reference cell: J.-P. Dittrich, B. Seeger: "Data redundancy and duplicate detection in
spatial join processing", ICDE 2000.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numba import njit
from numpy.typing import NDArray

from geocast.match.geometry.curves import grid_coordinate, grid_scale, hilbert_order
from geocast.match.geometry.shapes import frozen
from geocast.match.index.base import (
    BoundsIndex,
    Boxes,
    Candidates,
    boxes_meet,
    checked,
    grown,
)

__all__ = ["Multigrid"]

FINENESS = 2
"""Columns of the finest grid, for each column of a grid of as many cells as items. More divides
crowds better, but costs every query larger than a cell: 8 is slower by a third on mixed sizes."""


class Multigrid(BoundsIndex):
    """Grids of several resolutions; each item in the cells it meets of the one that suits it."""

    name = "multigrid"

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over the arrays.

        Rows of all grids are numbered through, the finest grid first. Row r has the cells
        row_starts[r] to row_starts[r + 1]; cell c has its column, and the entries
        cell_starts[c] to cell_starts[c + 1]; an entry is a row of boxes and items. The frame
        is the origin (x, y) and the scale (x, y) of the finest grid, and its order.
        """
        self._boxes: Boxes = frozen(arrays["boxes"], np.float64)
        self._items: NDArray[np.int32] = frozen(arrays["items"], np.int32)
        self._entries: NDArray[np.int32] = frozen(arrays["entries"], np.int32)
        self._cell_starts: NDArray[np.int64] = frozen(arrays["cell_starts"], np.int64)
        self._cell_columns: NDArray[np.int32] = frozen(arrays["cell_columns"], np.int32)
        self._row_starts: NDArray[np.int64] = frozen(arrays["row_starts"], np.int64)
        self._frame: NDArray[np.float64] = frozen(arrays["frame"], np.float64)

    @classmethod
    def build(cls, bounds: Boxes) -> Self:
        """Index the boxes."""
        boxes = checked(bounds, what="indexed", finite=True)
        frame = _frame(boxes)
        order = hilbert_order(boxes)
        boxes = boxes[order]
        rows, columns, entries = _place(boxes, frame)
        by_cell = np.lexsort((columns, rows))
        rows, columns, entries = rows[by_cell], columns[by_cell], entries[by_cell]
        changes = (rows[1:] != rows[:-1]) | (columns[1:] != columns[:-1])
        cell_starts = np.flatnonzero(np.append(np.ones(min(1, len(rows)), bool), changes))
        row_bounds = np.arange(2 ** (int(frame[4]) + 1))
        return cls(
            {
                "boxes": boxes,
                "items": order,
                "entries": entries,
                "cell_starts": np.append(cell_starts, len(entries)),
                "cell_columns": columns[cell_starts],
                "row_starts": np.searchsorted(rows[cell_starts], row_bounds),
                "frame": frame,
            }
        )

    def query(self, bounds: Boxes) -> Candidates:
        """Return every item whose box meets the query box, and no other."""
        queries = checked(bounds, what="query", finite=False)
        answer: Candidates = _query(
            self._boxes,
            self._items,
            self._entries,
            self._cell_starts,
            self._cell_columns,
            self._row_starts,
            self._frame,
            queries,
        )
        return answer

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return boxes and items, entries, cells, rows, and the frame of the finest grid."""
        return {
            "boxes": self._boxes,
            "items": self._items,
            "entries": self._entries,
            "cell_starts": self._cell_starts,
            "cell_columns": self._cell_columns,
            "row_starts": self._row_starts,
            "frame": self._frame,
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return the index whose `arrays` these are."""
        return cls(arrays)

    def __len__(self) -> int:
        return len(self._items)


def _frame(boxes: Boxes) -> NDArray[np.float64]:
    """Return origin (x, y), scale (x, y) and order of the finest grid over the boxes."""
    if len(boxes) == 0:
        return np.zeros(5)
    order = int(np.ceil(np.log2(FINENESS * np.sqrt(len(boxes)))))
    low, high = boxes[:, :2].min(axis=0), boxes[:, 2:].max(axis=0)
    scales = [grid_scale(low[axis], high[axis], order) for axis in (0, 1)]
    return np.array([*low, *scales, order])


@njit(cache=True)
def _corners(boxes: Boxes, row: int, frame: NDArray[np.float64]) -> tuple[int, int, int, int]:
    """Return first column, first row, last column and last row of a box in the finest grid."""
    order = int(frame[4])
    return (
        grid_coordinate(boxes[row, 0], frame[0], frame[2], order),
        grid_coordinate(boxes[row, 1], frame[1], frame[3], order),
        grid_coordinate(boxes[row, 2], frame[0], frame[2], order),
        grid_coordinate(boxes[row, 3], frame[1], frame[3], order),
    )


@njit(cache=True)
def _first_row(shift: int, order: int) -> int:
    """Return the number of the first row of the grid that drops `shift` bits."""
    return (2 << order) - (2 << order >> shift)


@njit(cache=True)
def _place(
    boxes: Boxes, frame: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    """Return row, column and box of every entry."""
    rows = np.empty(4 * len(boxes), np.int64)
    columns = np.empty(4 * len(boxes), np.int32)
    entries = np.empty(4 * len(boxes), np.int32)
    count, order = 0, int(frame[4])
    for box in range(len(boxes)):
        left, bottom, right, top = _corners(boxes, box, frame)
        shift = 0
        while (right >> shift) - (left >> shift) > 1 or (top >> shift) - (bottom >> shift) > 1:
            shift += 1
        for row in range(bottom >> shift, (top >> shift) + 1):
            for column in range(left >> shift, (right >> shift) + 1):
                rows[count] = _first_row(shift, order) + row
                columns[count] = column
                entries[count] = box
                count += 1
    return rows[:count].copy(), columns[:count].copy(), entries[:count].copy()


@njit(cache=True)
def _bisect(columns: NDArray[np.int32], start: int, stop: int, column: int) -> int:
    """Return the first place from start to stop whose column is not less, or stop."""
    while start < stop:
        middle = (start + stop) >> 1
        if columns[middle] < column:
            start = middle + 1
        else:
            stop = middle
    return start


@njit(cache=True)
def _is_reference(
    boxes: Boxes,
    box: int,
    frame: NDArray[np.float64],
    shift: int,
    cell: tuple[int, int],
    query_first: tuple[int, int],
) -> bool:
    """Say whether a cell is the first, by column and by row, that box and query both meet."""
    left, bottom, _, _ = _corners(boxes, box, frame)
    first_column = max(left >> shift, query_first[0])
    first_row = max(bottom >> shift, query_first[1])
    return cell == (first_column, first_row)


@njit(cache=True)
def _query(
    boxes: Boxes,
    items: NDArray[np.int32],
    entries: NDArray[np.int32],
    cell_starts: NDArray[np.int64],
    cell_columns: NDArray[np.int32],
    row_starts: NDArray[np.int64],
    frame: NDArray[np.float64],
    queries: Boxes,
) -> Candidates:
    order = int(frame[4])
    offsets = np.zeros(len(queries) + 1, np.int64)
    answer = np.empty(max(1024, 8 * len(queries)), np.int32)
    found = 0
    for query in range(len(queries)):
        corners = _corners(queries, query, frame)
        for shift in range(order + 1):
            first_row = _first_row(shift, order)
            if row_starts[first_row] == row_starts[_first_row(shift + 1, order)]:
                continue
            left, bottom = corners[0] >> shift, corners[1] >> shift
            right, top = corners[2] >> shift, corners[3] >> shift
            for row in range(bottom, top + 1):
                stop = row_starts[first_row + row + 1]
                cell = _bisect(cell_columns, row_starts[first_row + row], stop, left)
                while cell < stop and cell_columns[cell] <= right:
                    column = int(cell_columns[cell])
                    for place in range(cell_starts[cell], cell_starts[cell + 1]):
                        box = entries[place]
                        if boxes_meet(boxes, box, queries, query) and _is_reference(
                            boxes, box, frame, shift, (column, row), (left, bottom)
                        ):
                            if found == len(answer):
                                answer = grown(answer)
                            answer[found] = items[box]
                            found += 1
                    cell += 1
        offsets[query + 1] = found
    return offsets, answer[:found].copy()
