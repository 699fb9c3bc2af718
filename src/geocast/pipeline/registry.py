"""Algorithms by name; `geocast.pipeline.variants` tells which names there are."""

from __future__ import annotations

import logging
from typing import Final

import pyarrow as pa

from geocast.pipeline.auto import choose
from geocast.pipeline.base import Algorithm
from geocast.pipeline.partitioned import Partitioned
from geocast.pipeline.ris import Ris
from geocast.pipeline.variants import DEFAULT, INDEX_CODES, check_cells, is_auto, parse_name

__all__ = ["CELLS", "make_algorithm"]

_log = logging.getLogger("geocast.spark")

CELLS: Final = 100
"""Among how many partitions subscriptions are divided unless told otherwise."""


def make_algorithm(
    name: str, subscriptions: pa.Table, *, cells: int = CELLS, merge: bool = False
) -> Algorithm:
    """Build the algorithm of that name for these subscriptions; case does not matter.

    With the name `auto` one is chosen, and the log says which and why, at level INFO. Where it
    divides the subscriptions, it does so among at most `cells` partitions, and one for what lies
    outside them all. `merge` has all partitions report what they find, and repeats be found
    afterwards, where otherwise only the partition that owns a pair reports it. Raises
    UnknownNameError, which says which names there are, where there is none of that name, and
    InputError where cells are none or too many.
    """
    check_cells(cells)
    if is_auto(name):
        choice = choose(subscriptions)
        _log.info("%s", choice.why)
        name = choice.name
    variant = parse_name(name)
    if variant.family == DEFAULT:
        return Ris(subscriptions, INDEX_CODES[variant.index] if variant.index else "cells")
    return Partitioned(subscriptions, variant, cells, merge=merge)
