"""Names of the comparison functions and, for time, what they mean."""

from __future__ import annotations

from geocast.model import Predicate

__all__ = ["ARITHMETIC", "ARRAY", "COMPARISONS", "FLIPPED", "SPATIAL", "TEMPORAL", "Bounds"]

COMPARISONS = ("=", "<>", "<", ">", "<=", ">=")
FLIPPED = {"=": "=", "<>": "<>", "<": ">", ">": "<", "<=": ">=", ">=": "<="}
ARITHMETIC = ("+", "-", "*", "/", "%", "div", "^")

SPATIAL = {f"s_{member.label}": member for member in Predicate}

ARRAY = {name.lower(): name for name in ("a_equals", "a_contains", "a_containedBy", "a_overlaps")}
"""Lower-case name to the name as CQL2 JSON writes it."""

Bounds = tuple[str, str, str]
"""A comparison of one bound of the first operand with one bound of the second."""

_START_AFTER: Bounds = ("start", ">", "start")
_START_BEFORE: Bounds = ("start", "<", "start")
_SAME_START: Bounds = ("start", "=", "start")
_END_AFTER: Bounds = ("end", ">", "end")
_END_BEFORE: Bounds = ("end", "<", "end")
_SAME_END: Bounds = ("end", "=", "end")
_AFTER: Bounds = ("start", ">", "end")
_BEFORE: Bounds = ("end", "<", "start")

TEMPORAL: dict[str, tuple[str, tuple[tuple[Bounds, ...], ...]]] = {
    "t_after": ("t_after", ((_AFTER,),)),
    "t_before": ("t_before", ((_BEFORE,),)),
    "t_contains": ("t_contains", ((_START_BEFORE, _END_AFTER),)),
    "t_disjoint": ("t_disjoint", ((_BEFORE,), (_AFTER,))),
    "t_during": ("t_during", ((_START_AFTER, _END_BEFORE),)),
    "t_equals": ("t_equals", ((_SAME_START, _SAME_END),)),
    "t_finishedby": ("t_finishedBy", ((_START_BEFORE, _SAME_END),)),
    "t_finishes": ("t_finishes", ((_START_AFTER, _SAME_END),)),
    "t_intersects": ("t_intersects", ((("start", "<=", "end"), ("end", ">=", "start")),)),
    "t_meets": ("t_meets", ((("end", "=", "start"),),)),
    "t_metby": ("t_metBy", ((("start", "=", "end"),),)),
    "t_overlappedby": ("t_overlappedBy", ((_START_AFTER, ("start", "<", "end"), _END_AFTER),)),
    "t_overlaps": ("t_overlaps", ((_START_BEFORE, ("end", ">", "start"), _END_BEFORE),)),
    "t_startedby": ("t_startedBy", ((_SAME_START, _END_AFTER),)),
    "t_starts": ("t_starts", ((_SAME_START, _END_BEFORE),)),
}
"""Lower-case name to the name as CQL2 JSON writes it and its meaning: the relation holds if all
comparisons of one of the alternatives do. An instant is an interval that starts where it ends.
From the definitions of the Time Ontology in OWL, to which the standard refers."""
