"""The Arrow schemas of the tables that users see.

Publications have `id` (string), `geometry` (WKB), and one column for every attribute.
Subscriptions have `id`, optionally `subscriber`, and either `geometry` + `predicate`
(+ `filter`), or `filter` alone; see `RESERVED_SUBSCRIPTION_COLUMNS`.
"""

from __future__ import annotations

import pyarrow as pa

__all__ = ["MATCHES", "PAIRS", "REJECTS", "RESERVED_SUBSCRIPTION_COLUMNS"]

MATCHES = pa.schema(
    [
        pa.field("publication", pa.string(), nullable=False),
        pa.field("subscriptions", pa.list_(pa.string()), nullable=False),
    ]
)
"""A row a matched publication; the subscriptions are sorted."""

PAIRS = pa.schema(
    [
        pa.field("publication", pa.string(), nullable=False),
        pa.field("subscription", pa.string(), nullable=False),
    ]
)
"""A row a matched pair, in the order of MATCHES."""

REJECTS = pa.schema(
    [
        pa.field("side", pa.string(), nullable=False),
        pa.field("row", pa.int64(), nullable=False),
        pa.field("id", pa.string()),
        pa.field("reason", pa.string(), nullable=False),
    ]
)
"""A row a bad record: which side, its 0-based row in the input, its id if it has one, and why."""

RESERVED_SUBSCRIPTION_COLUMNS = ("id", "subscriber", "geometry", "predicate", "filter")
"""The columns of a subscriptions table that have a meaning; others are ignored."""
