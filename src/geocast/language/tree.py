"""The expression tree that both readers build: immutable, hashable, free of positions.

Scalars are what a predicate speaks about (properties, literals, arithmetic, intervals, arrays);
predicates are what a publication fulfils or not; `And`, `Or`, `Not` and `Constant` connect
predicates until `normal` has dissolved them. Two expressions that differ only in how they were
written (text or JSON, `2 < a` or `a > 2`) have equal trees.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from geocast.model import Predicate

__all__ = [
    "And",
    "Arithmetic",
    "Array",
    "ArrayRelation",
    "Between",
    "Boolean",
    "Comparison",
    "Condition",
    "Constant",
    "Expression",
    "Fold",
    "FoldName",
    "In",
    "Instant",
    "Interval",
    "IsNull",
    "Like",
    "Node",
    "Not",
    "Number",
    "Or",
    "Property",
    "Scalar",
    "Shape",
    "Spatial",
    "Temporal",
    "Text",
]


@dataclass(frozen=True, slots=True)
class Property:
    """The value of an attribute of the publication; dots look into nested values."""

    name: str


@dataclass(frozen=True, slots=True)
class Number:
    """A number; whole ones are kept as int, so that large integers stay exact."""

    value: int | float


@dataclass(frozen=True, slots=True)
class Text:
    """A character string."""

    value: str


@dataclass(frozen=True, slots=True)
class Boolean:
    """TRUE or FALSE as a value."""

    value: bool


@dataclass(frozen=True, slots=True)
class Instant:
    """Microseconds since 1970-01-01T00:00:00Z; with `day`, the whole day that begins then."""

    micros: int
    day: bool


@dataclass(frozen=True, slots=True)
class Interval:
    """A closed interval; None is an open end (".." in the text)."""

    start: Instant | Property | None
    end: Instant | Property | None


@dataclass(frozen=True, slots=True)
class Array:
    """A list of values, read as a set by the array functions; elements may differ in type."""

    items: tuple[Scalar, ...]


class FoldName(Enum):
    """The two functions on strings."""

    CASEI = "casei"
    ACCENTI = "accenti"


@dataclass(frozen=True, slots=True)
class Fold:
    """A string without regard to case (CASEI) or accents (ACCENTI)."""

    name: FoldName
    operand: Scalar


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """`left op right`, op one of + - * / % div ^."""

    op: str
    left: Scalar
    right: Scalar


@dataclass(frozen=True, slots=True)
class Shape:
    """A geometry literal: valid, two-dimensional, little-endian WKB."""

    wkb: bytes


@dataclass(frozen=True, slots=True)
class Comparison:
    """`left op right`, op one of = < > <= >=; "not equal" is a negated "="."""

    op: str
    left: Scalar
    right: Scalar


@dataclass(frozen=True, slots=True)
class Between:
    """`low <= value <= high`."""

    value: Scalar
    low: Scalar
    high: Scalar


@dataclass(frozen=True, slots=True)
class In:
    """The value equals one of at least two items."""

    value: Scalar
    items: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class Like:
    r"""The string matches a pattern in which % is any run, _ any character, \ takes away both."""

    value: Scalar
    pattern: str


@dataclass(frozen=True, slots=True)
class IsNull:
    """The scalar has no value, or the condition is neither true nor false."""

    operand: Scalar | Condition


@dataclass(frozen=True, slots=True)
class Temporal:
    """A relation of `relations.TEMPORAL` between instants or intervals."""

    name: str
    left: Scalar
    right: Scalar


@dataclass(frozen=True, slots=True)
class ArrayRelation:
    """A relation of `relations.ARRAY` between two sets of values."""

    name: str
    left: Scalar
    right: Scalar


@dataclass(frozen=True, slots=True)
class Spatial:
    """The publication's geometry in relation to a literal, publication first."""

    predicate: Predicate
    wkb: bytes


@dataclass(frozen=True, slots=True)
class Constant:
    """TRUE, FALSE, or None for NULL (unknown)."""

    value: bool | None


@dataclass(frozen=True, slots=True)
class And:
    """All terms hold."""

    terms: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """At least one term holds."""

    terms: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The term is false."""

    term: Condition


Scalar = Property | Number | Text | Boolean | Instant | Interval | Array | Fold | Arithmetic | Shape
Expression = Comparison | Between | In | Like | IsNull | Temporal | ArrayRelation
Condition = Expression | Spatial | Constant | And | Or | Not
Node = Scalar | Condition
