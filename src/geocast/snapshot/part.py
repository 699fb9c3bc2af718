"""Parts: saved matchers over some subscriptions, that versions are put together from."""

from __future__ import annotations

import json
import secrets
import shutil
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from geocast.errors import StateError
from geocast.match.divided import divide
from geocast.match.matcher import Matcher
from geocast.match.partition.division import Divider
from geocast.match.subscriptions import Subscriptions, read_subscriptions
from geocast.model import Rejects
from geocast.snapshot.files import size_of, sync_tree
from geocast.snapshot.layout import MANIFEST, VNUMBERS
from geocast.snapshot.numbers import numbers_of

__all__ = ["SMALL", "Part", "join_tables", "label_of", "write_part"]

SMALL: Final = 128
"""Up to here a part is searched without cells, whose tables take megabytes, and is not divided."""

_FEWEST_A_CELL: Final = 16
"""A small part has fewer cells than were asked for, so that writing it takes little time."""

_SHOWN: Final = 5

_NO_ROWS: Final = pa.table({"id": pa.array([], pa.string()), "geometry": pa.array([], pa.binary())})


@dataclass(frozen=True, slots=True)
class Part:
    """A part on disk; one without subscriptions is not written and has no name."""

    name: str
    count: int
    bytes: int


def write_part(directory: Path, subscriptions: pa.Table, divider: Divider | None = None) -> Part:
    """Write a part of these subscriptions, whose ids are version numbers, durably.

    With a divider, a part that is not small is divided. Raises StateError naming subscriptions
    that cannot be used.
    """
    numbers = np.sort(numbers_of(subscriptions))
    if len(numbers) == 0:
        return Part("", 0, 0)
    read = read_subscriptions(subscriptions)
    _refuse(read.rejects)
    divided = divider if len(numbers) > SMALL else None
    path = directory / part_name(len(numbers), divided)
    path.mkdir(parents=True)
    try:
        np.save(path / VNUMBERS, numbers)
        if divided is not None:
            _divide(read, divided, path)
        else:
            Matcher.of(read, "quadtree" if len(numbers) <= SMALL else "cells").save(path)
        sync_tree(path)
    except BaseException:
        shutil.rmtree(path, ignore_errors=True)
        raise
    return Part(path.name, len(numbers), size_of(path))


def part_name(count: int, divider: Divider | None) -> str:
    """Return a new name for a part, which tells how it is divided."""
    label = "" if divider is None else f"-{divider.label}"
    return f"{count}-{secrets.token_hex(8)}{label}"


def label_of(name: str) -> str | None:
    """Return how the part of that name is divided; None if it is not."""
    parts = name.split("-", 2)
    return parts[2] if len(parts) > 2 else None


def _divide(read: Subscriptions, divider: Divider, path: Path) -> None:
    vnumbers = pc.cast(read.ids, pa.int64()).to_numpy(zero_copy_only=False)
    cells = min(divider.cells, max(1, len(vnumbers) // _FEWEST_A_CELL))
    division = replace(divider, cells=cells).division(read.boxes())
    divide(read, vnumbers, division, path)
    (path / MANIFEST).write_text(json.dumps({"divided": divider.label}))


def join_tables(tables: Iterable[pa.Table]) -> pa.Table:
    """Return tables of subscriptions as one; geometries may take more than two gigabytes."""
    joined = pa.concat_tables([_NO_ROWS, *tables], promote_options="default")
    place = joined.schema.get_field_index("geometry")
    return joined.set_column(place, "geometry", joined["geometry"].cast(pa.large_binary()))


def _refuse(rejects: Rejects) -> None:
    if len(rejects) == 0:
        return
    told = "; ".join(f"{reject.id}: {reject.reason}" for reject in islice(rejects, _SHOWN))
    more = "" if len(rejects) <= _SHOWN else f"; and {len(rejects) - _SHOWN} more"
    raise StateError(f"subscriptions that cannot be used: {told}{more}")
