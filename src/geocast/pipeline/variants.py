"""The names of the algorithms: a family, its index in brackets, its partitioning in braces.

`RIS` alone is the default, with the exact cell index. Beside it there are the 48 variants of the
thesis that this system grows out of (docs/algorithms.md), such as `sPIS[QT]{KT}`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Final

from geocast.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from geocast.match.partition.division import Divider, Way

__all__ = [
    "AUTO",
    "DEFAULT",
    "INDEX_CODES",
    "METHOD_CODES",
    "MOST_CELLS",
    "REPRESENTATIVES",
    "Variant",
    "algorithm_names",
    "check_cells",
    "check_name",
    "is_auto",
    "parse_name",
    "variant_names",
]

DEFAULT: Final = "RIS"

AUTO: Final = "auto"
"""What may stand for a name: to choose one by the subscriptions and the memory at hand."""

INDEX_CODES: Final[Mapping[str, str]] = {"HT": "hprtree", "ST": "strtree", "QT": "quadtree"}
"""The indexes that stand in brackets."""

METHOD_CODES: Final = ("QT", "KT", "ST", "HI", "VO", "EG")
"""The partitionings that stand in braces: the names in `geocast.match.partition.METHODS`."""

MOST_CELLS: Final = 10_000
"""Among how many partitions subscriptions may be divided: each of them is files and an index."""

REPRESENTATIVES: Final = ("RIS[HT]", "sPS{QT}", "sPIS[QT]{QT}", "RIsPS[HT]{KT}", "RIhPS[HT]")
"""One of each family: those that the thesis found best."""

_INDEXED: Final = ("RIS", "sPIS", "RIsPS", "RIhPS")
_SPATIAL: Final = ("sPS", "sPIS", "RIsPS")
_FAMILIES: Final = ("RIS", "sPS", "sPIS", "RIsPS", "RIhPS")
_WAYS: Final[Mapping[str, Way]] = {
    "sPS": "spread",
    "sPIS": "spread",
    "RIsPS": "home",
    "RIhPS": "hash",
}
_NAME: Final = re.compile(r"(\w+)(?:\[(\w+)\])?(?:\{(\w+)\})?")


@dataclass(frozen=True, slots=True)
class Variant:
    """A name, taken apart: `index` and `method` are codes, None where the family has none."""

    family: str
    index: str | None = None
    method: str | None = None

    @property
    def name(self) -> str:
        """The name as it is written."""
        bracket = "" if self.index is None else f"[{self.index}]"
        brace = "" if self.method is None else f"{{{self.method}}}"
        return f"{self.family}{bracket}{brace}"

    def divider(self, cells: int) -> Divider | None:
        """Return how the variant divides subscriptions; None where it does not.

        Raises InputError where `cells` are none or too many.
        """
        from geocast.match.partition.division import Divider

        if self.family == DEFAULT:
            return None
        check_cells(cells)
        index = "list" if self.index is None else INDEX_CODES[self.index]
        return Divider(_WAYS[self.family], index, self.method, cells)


def variant_names() -> list[str]:
    """Return the 48 names of the thesis, family by family."""
    return [variant.name for variant in _variants()]


def algorithm_names() -> list[str]:
    """Return all names, the default first."""
    return [DEFAULT, *variant_names()]


def parse_name(name: str) -> Variant:
    """Return the variant of that name; case does not matter.

    Raises UnknownNameError, which says which names there are, where there is none of that name.
    """
    parts = _NAME.fullmatch(name.strip().upper())
    if parts is not None:
        asked = parts.groups()
        for variant in (Variant(DEFAULT), *_variants()):
            if (variant.family.upper(), variant.index, variant.method) == asked:
                return variant
    raise UnknownNameError("algorithm", name, [DEFAULT, *map(_forms, _FAMILIES), AUTO])


def check_name(name: str) -> None:
    """Raise UnknownNameError unless it is the name of an algorithm, or AUTO."""
    if not is_auto(name):
        parse_name(name)


def check_cells(cells: int) -> None:
    """Raise InputError unless subscriptions may be divided among so many partitions."""
    if cells < 1:
        raise InputError(f"cells must be at least 1, not {cells}")
    if cells > MOST_CELLS:
        raise InputError(f"cells must be at most {MOST_CELLS:,}, not {cells:,}")


def is_auto(name: str) -> bool:
    """Tell whether an algorithm is to be chosen; case does not matter."""
    return name.strip().lower() == AUTO


def _forms(family: str) -> str:
    """Return all names of a family in one: `RIhPS[HT|ST|QT]`."""
    bracket = f"[{'|'.join(INDEX_CODES)}]" if family in _INDEXED else ""
    brace = f"{{{'|'.join(METHOD_CODES)}}}" if family in _SPATIAL else ""
    return f"{family}{bracket}{brace}"


def _variants() -> list[Variant]:
    return [
        Variant(family, index, method)
        for family in _FAMILIES
        for index, method in product(
            INDEX_CODES if family in _INDEXED else [None],
            METHOD_CODES if family in _SPATIAL else [None],
        )
    ]
