"""The ten spatial predicates, read publication first: "publication WITHIN area"."""

from __future__ import annotations

from enum import IntEnum

from geocast.errors import UnknownNameError

__all__ = ["Predicate"]


class Predicate(IntEnum):
    """A spatial predicate by its DE-9IM name; the number is its column in decision tables."""

    EQUALS = 0
    TOUCHES = 1
    CROSSES = 2
    WITHIN = 3
    OVERLAPS = 4
    CONTAINS = 5
    INTERSECTS = 6
    COVERS = 7
    COVEREDBY = 8
    DISJOINT = 9

    @classmethod
    def parse(cls, name: str) -> Predicate:
        """Return the predicate of that name; case does not matter."""
        try:
            return cls[name.strip().upper()]
        except KeyError:
            raise UnknownNameError("predicate", name, cls.names()) from None

    @classmethod
    def names(cls) -> list[str]:
        """Return the names of all ten, in lower case, as files and messages write them."""
        return [member.label for member in cls]

    @property
    def label(self) -> str:
        """The name in lower case, as files and messages write it."""
        return self.name.lower()

    @property
    def converse(self) -> Predicate:
        """The predicate Q with P(a, b) = Q(b, a)."""
        return _CONVERSE.get(self, self)


_CONVERSE = {
    Predicate.WITHIN: Predicate.CONTAINS,
    Predicate.CONTAINS: Predicate.WITHIN,
    Predicate.COVERS: Predicate.COVEREDBY,
    Predicate.COVEREDBY: Predicate.COVERS,
}
