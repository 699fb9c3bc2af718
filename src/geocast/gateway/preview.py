"""What a subscription would have matched, had it been there: tried on the last events."""

from __future__ import annotations

from typing import Annotated, Any, Final

import numpy as np
from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from geocast.files import read_texts
from geocast.gateway.answers import Json
from geocast.gateway.bodies import Content, features_of, load_body
from geocast.gateway.callers import Subscriber
from geocast.gateway.documents import GEOJSON, body, problems
from geocast.gateway.event_schemas import Attribute, Preview
from geocast.gateway.parts import Parts, parts_of
from geocast.gateway.problems import Problem
from geocast.gateway.recent import MAX_EVENTS
from geocast.gateway.subscribing import wishes_of
from geocast.gateway.wishes import table_of
from geocast.match.matcher import Matcher
from geocast.model import Account, split_key, to_rfc3339

__all__ = ["router"]

router: Final = APIRouter(tags=["events"])

_MOST_IDS: Final = 5_000
_BODY: Final = body(
    "A subscription as it would be made; it is not.",
    {GEOJSON: ("SubscriptionRequest",), Content.JSON.value: ("SubscriptionRequest",)},
)


@router.get("/v1/attributes", response_model=list[Attribute], responses=problems(401, 403, 429))
async def get_attributes(request: Request, account: Subscriber) -> Response:
    """List the attributes that the last 2,000 events have, the most frequent first."""
    parts = parts_of(request)
    return Json(await parts.look(parts.attributes.read))


@router.post(
    "/v1/subscriptions/preview",
    response_model=Preview,
    responses=problems(400, 401, 403, 408, 413, 415, 422, 429, 503),
    openapi_extra=_BODY,
)
async def post_preview(
    request: Request,
    account: Subscriber,
    limit: Annotated[int, Query(ge=1, le=MAX_EVENTS, description="How many events to try")] = 5_000,
) -> Response:
    """Tell which of the last events a subscription would have matched; nothing is stored."""
    parts = parts_of(request)
    Content.of(request.headers.get("content-type"), sequence=False)
    return Json(await parts.look(_preview, parts, account, await request.body(), limit))


def _preview(parts: Parts, account: Account, text: bytes, limit: int) -> dict[str, Any]:
    features, single = features_of(load_body(text))
    if not single:
        raise Problem(422, "the body is a FeatureCollection; one Feature is expected")
    matcher = Matcher(table_of(wishes_of(parts, account, features, single=True)))
    records = parts.recent.last(limit)
    rows = _matched(matcher, [record.value for record in records])
    told = [split_key(records[row].key) for row in rows[:_MOST_IDS]]
    return {
        "considered": len(records),
        "matched": len(rows),
        "ids": [identifier for _, identifier in told],
        "publishers": [publisher for publisher, _ in told],
        "since": to_rfc3339(records[-1].time) if records else None,
    }


def _matched(matcher: Matcher, texts: list[bytes]) -> list[int]:
    """Return the places of the texts that match, in order."""
    found: list[int] = []
    for chunk in read_texts(texts, columns=matcher.properties):
        if chunk.batch.num_rows:
            rows = np.unique(matcher.pairs(chunk.batch).row)
            found += chunk.rows[rows].tolist()
    return found
