"""The algorithms by name: a family, and in brackets the index it uses.

`RIS` is the replicated index with the exact cell index; `RIS[HT]` the same with an HPR tree.
A new family is one class with the contract of `geocast.pipeline.base.Algorithm` and one line
in FAMILIES.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import pyarrow as pa

from geocast.errors import UnknownNameError
from geocast.pipeline.base import Algorithm
from geocast.pipeline.ris import Ris

__all__ = ["FAMILIES", "INDEX_CODES", "algorithm_names", "make_algorithm", "parse_name"]

FAMILIES: Mapping[str, type[Algorithm]] = {"RIS": Ris}
"""The families of algorithms by their short names."""

INDEX_CODES: Mapping[str, str] = {
    "HT": "hprtree",
    "ST": "strtree",
    "QT": "quadtree",
    "MG": "multigrid",
}
"""The indexes that a name can ask for in brackets; without brackets it is `cells`."""

_NAME = re.compile(r"(?P<family>\w+)(?:\[(?P<code>\w+)\])?")


def make_algorithm(name: str, subscriptions: pa.Table) -> Algorithm:
    """Build the algorithm of that name for these subscriptions; case does not matter.

    Raises UnknownNameError, which lists all names, where there is none of that name.
    """
    family, index = parse_name(name)
    return family(subscriptions, index)


def parse_name(name: str) -> tuple[type[Algorithm], str]:
    """Return the family and the index that the name asks for."""
    parts = _NAME.fullmatch(name.strip().upper())
    if parts is None or parts["family"] not in FAMILIES:
        raise UnknownNameError("algorithm", name, algorithm_names())
    if parts["code"] is None:
        return FAMILIES[parts["family"]], "cells"
    if parts["code"] not in INDEX_CODES:
        raise UnknownNameError("algorithm", name, algorithm_names())
    return FAMILIES[parts["family"]], INDEX_CODES[parts["code"]]


def algorithm_names() -> list[str]:
    """Return all names, the plain one of each family first."""
    brackets = ["", *(f"[{code}]" for code in INDEX_CODES)]
    return [family + bracket for family in FAMILIES for bracket in brackets]
