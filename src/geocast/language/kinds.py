"""The types of CQL2, as far as they are known before a publication is seen."""

from __future__ import annotations

from enum import Enum

from geocast.language.tree import (
    Arithmetic,
    Array,
    Boolean,
    Fold,
    Instant,
    Interval,
    Node,
    Number,
    Property,
    Shape,
    Text,
)

__all__ = ["GEOMETRY_NAME", "LITERALS", "SCALAR_KINDS", "Kind", "kind_of"]

GEOMETRY_NAME = "geometry"
"""The name by which expressions speak of the publication's geometry."""


class Kind(Enum):
    """The type of a node, named as messages name it."""

    ANY = "a property"
    BOOLEAN = "a boolean"
    NUMBER = "a number"
    TEXT = "a string"
    INSTANT = "a date or time"
    INTERVAL = "an interval"
    ARRAY = "an array"
    GEOMETRY = "a geometry"
    CONDITION = "a condition"


SCALAR_KINDS = frozenset({Kind.ANY, Kind.BOOLEAN, Kind.NUMBER, Kind.TEXT, Kind.INSTANT})
"""What comparison operators work on."""

LITERALS = (Boolean, Number, Text, Instant)
"""The scalar nodes whose value is known."""

_KINDS: dict[type, Kind] = {
    Boolean: Kind.BOOLEAN,
    Number: Kind.NUMBER,
    Arithmetic: Kind.NUMBER,
    Text: Kind.TEXT,
    Fold: Kind.TEXT,
    Instant: Kind.INSTANT,
    Interval: Kind.INTERVAL,
    Array: Kind.ARRAY,
    Shape: Kind.GEOMETRY,
}


def kind_of(node: Node) -> Kind:
    """Return the type of a node; a property's is not known, save the geometry's."""
    if isinstance(node, Property):
        return Kind.GEOMETRY if node.name == GEOMETRY_NAME else Kind.ANY
    return _KINDS.get(type(node), Kind.CONDITION)
