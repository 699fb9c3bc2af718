"""Routes of what was published lately."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from geocast.gateway.answers import GeoJson
from geocast.gateway.boxes import Bounds, Box, read_box
from geocast.gateway.callers import Subscriber
from geocast.gateway.documents import geojson, problems
from geocast.gateway.forms import Moment, PlacesCursor
from geocast.gateway.parts import Parts, parts_of
from geocast.gateway.problems import Problem
from geocast.gateway.recent import MAX_EVENTS, document
from geocast.model import from_rfc3339

__all__ = ["places_of", "router", "text_of"]

router: Final = APIRouter(tags=["events"], default_response_class=GeoJson)


def text_of(places: list[int]) -> str:
    """Return a place in each partition of the log as text."""
    return "-".join(map(str, places))


def places_of(text: str, partitions: int) -> list[int] | None:
    """Return the places that a text names; None if they are not those of so many partitions."""
    places = [int(part) for part in text.split("-")]
    return places if len(places) == partitions else None


@router.get(
    "/v1/events",
    response_model=None,
    responses={**problems(401, 403, 422, 429), **geojson(200, "A page", "Events")},
)
async def get_events(
    request: Request,
    account: Subscriber,
    after: Annotated[Moment | None, Query(description="Published at this time or later")] = None,
    before: Annotated[Moment | None, Query(description="Published before this time")] = None,
    bbox: Box = None,
    limit: Annotated[int, Query(ge=1, le=MAX_EVENTS)] = 1_000,
    cursor: Annotated[PlacesCursor | None, Query(description="`next` of a page")] = None,
) -> Response:
    """List what was published lately, newest first, by everybody; what is withdrawn is left out.

    A page may have fewer events than asked for, also none, where `next` is not null.
    """
    parts = parts_of(request)
    box, stops = read_box(bbox), _stops(parts, cursor)
    found = await parts.look(_page, parts, _time(after), _time(before), stops, box, limit)
    return GeoJson(found)


def _time(text: str | None) -> int | None:
    return None if text is None else from_rfc3339(text)


def _stops(parts: Parts, cursor: str | None) -> list[int] | None:
    if cursor is None:
        return None
    places = places_of(cursor, parts.log.partitions)
    if places is None:
        raise Problem(422, "query.cursor: that is not the `next` of a page")
    return places


def _page(
    parts: Parts,
    after: int | None,
    before: int | None,
    stops: list[int] | None,
    box: Bounds | None,
    limit: int,
) -> bytes:
    page = parts.recent.page(after, before, stops, box, limit)
    following: Any = (
        b"null" if page.following is None else b'"%s"' % text_of(page.following).encode()
    )
    features = b",".join(map(document, page.records))
    return b'{"type":"FeatureCollection","features":[%s],"next":%s}' % (features, following)
