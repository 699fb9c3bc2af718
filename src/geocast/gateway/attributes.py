"""Which attributes events have, and of which values: for forms that ask about them."""

from __future__ import annotations

import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from geocast.gateway.recent import Recent

__all__ = ["AttributesSeen", "summary"]

_EVENTS: Final = 2_000
_FRESH_SECONDS: Final = 2.0
_MOST_NAMES: Final = 200
_MOST_VALUES: Final = 20
_LONGEST_VALUE: Final = 100
_DEEPEST: Final = 3
_KINDS: Final = {bool: "boolean", int: "number", float: "number", str: "text", list: "array"}


class AttributesSeen:
    """The attributes of the last 2,000 events, looked at every few seconds at most."""

    def __init__(self, recent: Recent) -> None:
        self._recent = recent
        self._lock = threading.Lock()
        self._at = float("-inf")
        self._kept: list[dict[str, Any]] = []

    def read(self) -> list[dict[str, Any]]:
        """Return them, the most frequent first."""
        with self._lock:
            if time.monotonic() - self._at > _FRESH_SECONDS:
                records = self._recent.last(_EVENTS)
                self._kept = summary(orjson.loads(record.value) for record in records)
                self._at = time.monotonic()
            return self._kept


@dataclass(slots=True)
class _Attribute:
    """What is known of one attribute."""

    kinds: Counter[str] = field(default_factory=Counter)
    texts: Counter[str] = field(default_factory=Counter)
    low: float | None = None
    high: float | None = None

    def add(self, value: Any) -> None:
        kind = _KINDS.get(type(value), "object")
        self.kinds[kind] += 1
        if kind == "text" and len(value) <= _LONGEST_VALUE:
            self.texts[value] += 1
        if kind == "number":
            self.low = value if self.low is None else min(self.low, value)
            self.high = value if self.high is None else max(self.high, value)

    def document(self, name: str, events: int) -> dict[str, Any]:
        return {
            "name": name,
            "types": [kind for kind, _ in self.kinds.most_common()],
            "values": [text for text, _ in self.texts.most_common(_MOST_VALUES)],
            "min": self.low,
            "max": self.high,
            "share": self.kinds.total() / events,
        }


def summary(features: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the attributes of Features, the most frequent first; nulls are not counted.

    The members of an object are attributes of their own, named as filters name them: `a.b`.
    """
    found: defaultdict[str, _Attribute] = defaultdict(_Attribute)
    count = 0
    for feature in features:
        count += 1
        for name, value in _flat(feature.get("properties") or {}, "", _DEEPEST):
            found[name].add(value)
    order = sorted(found.items(), key=lambda item: (-item[1].kinds.total(), item[0]))
    return [attribute.document(name, count) for name, attribute in order[:_MOST_NAMES]]


def _flat(properties: dict[str, Any], prefix: str, depth: int) -> Iterator[tuple[str, Any]]:
    for name, value in properties.items():
        if isinstance(value, dict) and depth > 1:
            yield from _flat(value, f"{prefix}{name}.", depth - 1)
        elif value is not None:
            yield prefix + name, value
