"""The normal form: a disjunction of filters, each a conjunction of constraints."""

from __future__ import annotations

from dataclasses import dataclass

from geocast.language.tree import Expression
from geocast.model import Predicate

__all__ = ["AttributeConstraint", "Filter", "NormalForm", "SpatialConstraint"]


@dataclass(frozen=True, slots=True)
class SpatialConstraint:
    """The publication's geometry stands in `predicate` to `geometry`, or `negated`, does not.

    Read publication first. The geometry is valid two-dimensional little-endian WKB in
    longitude and latitude. Intersects and disjoint are each other's negation and are never
    marked as negated.
    """

    predicate: Predicate
    geometry: bytes
    negated: bool = False


@dataclass(frozen=True, slots=True)
class AttributeConstraint:
    """`expression` is true for the publication, or with `negated`, is false; NULL is neither."""

    expression: Expression
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Filter:
    """A conjunction: all constraints hold. Without any constraint it always holds."""

    spatial: tuple[SpatialConstraint, ...] = ()
    attributes: tuple[AttributeConstraint, ...] = ()


@dataclass(frozen=True, slots=True)
class NormalForm:
    """A disjunction: one of the filters holds. Without any filter it never holds.

    Constraints and filters are distinct and in a fixed order, so that expressions which
    differ only in order or repetition have equal normal forms.
    """

    filters: tuple[Filter, ...]
