"""Parts: saved matchers over some subscriptions, that versions are put together from."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa

from geocast.errors import StateError
from geocast.match.matcher import Matcher
from geocast.model import Rejects
from geocast.snapshot.files import size_of, sync_tree
from geocast.snapshot.layout import VNUMBERS
from geocast.snapshot.numbers import numbers_of

__all__ = ["Part", "join_tables", "write_part"]

_SMALL: Final = 128
"""Up to here a part is searched without cells, whose tables take megabytes however few it has."""

_SHOWN: Final = 5

_NO_ROWS: Final = pa.table({"id": pa.array([], pa.string()), "geometry": pa.array([], pa.binary())})


@dataclass(frozen=True, slots=True)
class Part:
    """A part on disk; one without subscriptions is not written and has no name."""

    name: str
    count: int
    bytes: int


def write_part(directory: Path, subscriptions: pa.Table) -> Part:
    """Write a part of these subscriptions, whose ids are version numbers, durably.

    Raises StateError naming those that cannot be used.
    """
    numbers = np.sort(numbers_of(subscriptions))
    if len(numbers) == 0:
        return Part("", 0, 0)
    index = "quadtree" if len(numbers) <= _SMALL else "cells"
    matcher = Matcher(subscriptions, index=index)
    _refuse(matcher.rejects)
    path = directory / f"{len(numbers)}-{secrets.token_hex(8)}"
    path.mkdir(parents=True)
    try:
        np.save(path / VNUMBERS, numbers)
        matcher.save(path)
        sync_tree(path)
    except BaseException:
        shutil.rmtree(path, ignore_errors=True)
        raise
    return Part(path.name, len(numbers), size_of(path))


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
