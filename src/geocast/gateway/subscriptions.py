"""Routes of subscriptions."""

from __future__ import annotations

from typing import Annotated, Any, Final
from urllib.parse import quote

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from geocast.gateway.answers import GeoJson
from geocast.gateway.bodies import Content, features_of, load_body
from geocast.gateway.boxes import Box, read_box
from geocast.gateway.callers import Subscriber
from geocast.gateway.documents import GEOJSON, body, geojson, problems
from geocast.gateway.forms import NumberedCursor
from geocast.gateway.parts import Parts, parts_of
from geocast.gateway.subscribing import (
    cancel,
    change,
    look_up,
    page,
    pause,
    resume,
    subscribe,
)
from geocast.model import MAX_ID, Account

__all__ = ["router"]

router: Final = APIRouter(tags=["subscriptions"], default_response_class=GeoJson)

_Id = Annotated[str, Path(min_length=1, max_length=MAX_ID)]
_Limit = Annotated[int, Query(ge=1, le=1_000)]
_Cursor = Annotated[NumberedCursor | None, Query(description="`next` of a page")]
_REFUSALS: Final = (401, 403, 422, 429)
_BODY_REFUSALS: Final = (*_REFUSALS, 400, 408, 413, 415, 503)


def _body(*schemas: str) -> dict[str, Any]:
    named = "`predicate`, `filter`, `webhook`, `topic`"
    text = f"`properties` has {named}, and whatever else is to be kept."
    return body(text, {GEOJSON: schemas, Content.JSON.value: schemas})


@router.post(
    "/v1/subscriptions",
    status_code=201,
    response_model=None,
    responses={
        **problems(*_BODY_REFUSALS, 409),
        **geojson(201, "Made; active soon", "Subscription", "Subscriptions"),
    },
    openapi_extra=_body("SubscriptionRequest", "SubscriptionRequests"),
)
async def post_subscriptions(request: Request, account: Subscriber) -> Response:
    """Subscribe: one Feature, or many as a FeatureCollection, of which all are made or none."""
    parts = parts_of(request)
    Content.of(request.headers.get("content-type"), sequence=False)
    answer, headers = await parts.work(_subscribe, parts, account, await request.body())
    return GeoJson(answer, 201, headers)


def _subscribe(parts: Parts, account: Account, text: bytes) -> tuple[Any, dict[str, str]]:
    features, single = features_of(load_body(text))
    made = subscribe(parts, account, features, single=single)
    if not single:
        return {"type": "FeatureCollection", "features": made}, {}
    return made[0], {"Location": f"/v1/subscriptions/{quote(made[0]['id'], safe='')}"}


@router.get(
    "/v1/subscriptions",
    response_model=None,
    responses={**problems(*_REFUSALS), **geojson(200, "A page", "Subscriptions")},
)
async def get_subscriptions(
    request: Request,
    account: Subscriber,
    bbox: Box = None,
    limit: _Limit = 100,
    cursor: _Cursor = None,
) -> Response:
    """List your subscriptions; where `next` is not null, it is the `cursor` of the next page."""
    parts = parts_of(request)
    start = int(cursor or 0)
    features, last = await parts.ask(page, parts, account, read_box(bbox), start, limit)
    following = None if last is None else str(last)
    return GeoJson({"type": "FeatureCollection", "features": features, "next": following})


@router.get(
    "/v1/subscriptions/{id:path}",
    response_model=None,
    responses={**problems(*_REFUSALS, 404), **geojson(200, "It stands", "Subscription")},
)
async def get_subscription(request: Request, id: _Id, account: Subscriber) -> Response:  # noqa: A002
    """Look a subscription up: `properties.geocast.status` tells whether it is active yet."""
    parts = parts_of(request)
    return GeoJson(await parts.ask(look_up, parts, account, id))


@router.put(
    "/v1/subscriptions/{id:path}",
    response_model=None,
    responses={
        **problems(*_BODY_REFUSALS, 404),
        **geojson(200, "A new version", "Subscription"),
    },
    openapi_extra=_body("SubscriptionRequest"),
)
async def put_subscription(request: Request, id: _Id, account: Subscriber) -> Response:  # noqa: A002
    """Change a subscription: the version before stays active until the new one is.

    One that is paused stays so, and asks for the new things once it is resumed.
    """
    parts = parts_of(request)
    Content.of(request.headers.get("content-type"), sequence=False)
    return GeoJson(await parts.work(_change, parts, account, id, await request.body()))


def _change(parts: Parts, account: Account, identifier: str, text: bytes) -> dict[str, Any]:
    return change(parts, account, identifier, load_body(text))


@router.post(
    "/v1/subscriptions/{id:path}/pause",
    response_model=None,
    responses={**problems(*_REFUSALS, 404), **geojson(200, "It is paused", "Subscription")},
)
async def post_pause(request: Request, id: _Id, account: Subscriber) -> Response:  # noqa: A002
    """Let a subscription match nothing until it is resumed; its mailbox stays as it is."""
    parts = parts_of(request)
    return GeoJson(await parts.ask(pause, parts, account, id))


@router.post(
    "/v1/subscriptions/{id:path}/resume",
    response_model=None,
    responses={**problems(*_REFUSALS, 404), **geojson(200, "Active soon", "Subscription")},
)
async def post_resume(request: Request, id: _Id, account: Subscriber) -> Response:  # noqa: A002
    """Let a paused subscription be active again, by a new version."""
    parts = parts_of(request)
    return GeoJson(await parts.ask(resume, parts, account, id))


@router.delete(
    "/v1/subscriptions/{id:path}",
    status_code=204,
    response_model=None,
    responses=problems(*_REFUSALS, 404),
)
async def delete_subscription(request: Request, id: _Id, account: Subscriber) -> Response:  # noqa: A002
    """Unsubscribe."""
    parts = parts_of(request)
    await parts.ask(cancel, parts, account, id)
    return Response(status_code=204)
