"""Which publications reach which subscriptions, by asking every pair."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import shapely

from tests.oracle.evaluator import evaluate
from tests.oracle.spatial import PREDICATES, Geometries
from tests.oracle.text import parse_text

__all__ = ["Record", "features", "match"]

Record = Mapping[str, Any]
Records = Any  # an Arrow table or an iterable of Record


def match(subscriptions: Records, publications: Records) -> dict[str, list[str]]:
    """Return the sorted subscriptions of every publication that has any.

    Both sides are good records: an Arrow table, or mappings whose geometry is WKB or shapely's.
    """
    areas = features(subscriptions)
    events = features(publications)
    accepted = _accepted_places(areas, events)
    trees = [_tree(area) for area in areas]
    matches = {}
    for row, event in enumerate(events):
        hits = [
            area["id"]
            for column, area in enumerate(areas)
            if accepted[row, column] and _accepts(trees[column], event)
        ]
        if hits:
            matches[event["id"]] = sorted(hits)
    return matches


def features(records: Records) -> list[dict[str, Any]]:
    """Records as dictionaries with shapely geometries and string ids."""
    rows = records.to_pylist() if isinstance(records, pa.Table) else list(records)
    return [{**row, "geometry": _geometry(row.get("geometry"))} for row in rows]


def _geometry(value: Any) -> Any:
    return shapely.force_2d(shapely.from_wkb(value)) if isinstance(value, bytes) else value


def _accepted_places(
    areas: list[dict[str, Any]], events: list[dict[str, Any]]
) -> np.ndarray[Any, np.dtype[np.bool_]]:
    accepted = np.ones((len(events), len(areas)), dtype=bool)
    places = _objects([event["geometry"] for event in events])
    for name, predicate in PREDICATES.items():
        columns = [c for c, area in enumerate(areas) if _predicate(area) == name]
        wanted = _objects([areas[c]["geometry"] for c in columns])
        for row, place in enumerate(places):
            accepted[row, columns] = predicate(place, wanted)
    return accepted


def _predicate(area: Record) -> str | None:
    if area["geometry"] is None:
        return None
    return str(area.get("predicate") or "intersects").lower()


def _objects(items: list[Any]) -> Geometries:
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


def _tree(area: Record) -> Any:
    text = area.get("filter")
    return parse_text(text) if isinstance(text, str) else text


def _accepts(tree: Any, event: Record) -> bool:
    return tree is None or evaluate(tree, event) is True
