"""Notifications as the service sends them."""

from __future__ import annotations

from typing import Any

import orjson

__all__ = ["cloud_event", "sse"]


def cloud_event(cursor: int, *, withdrawn: bool = False, **data: Any) -> dict[str, Any]:
    match = f"m{cursor}"
    feature = {"type": "Feature", "id": f"p{cursor}", "properties": {"text": "Zürich\r\n\n"}}
    return {
        "specversion": "1.0",
        "id": match + ("-withdrawn" if withdrawn else ""),
        "source": "/accounts/alice",
        "type": "geocast.withdrawal.v1" if withdrawn else "geocast.match.v1",
        "subject": f"p{cursor}",
        "time": "2026-11-16T05:00:00.000250Z",
        "datacontenttype": "application/json",
        "geocastcursor": cursor,
        "data": {
            "subscription": "s",
            "version": 1,
            "publication": f"p{cursor}",
            "match": match,
            "notified": "2026-11-16T05:00:00.500250Z",
            **({} if withdrawn else {"feature": feature}),
            **data,
        },
    }


def sse(cursor: int, **data: Any) -> bytes:
    event = orjson.dumps(cloud_event(cursor, **data))
    return b"id: %d\nevent: match\ndata: %s\n\n" % (cursor, event)
