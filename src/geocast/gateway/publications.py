"""Routes of publications."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Path, Request
from starlette.responses import Response

from geocast.gateway.answers import Json
from geocast.gateway.bodies import Content
from geocast.gateway.callers import Publisher
from geocast.gateway.documents import body, problems
from geocast.gateway.features import read_publications
from geocast.gateway.parts import parts_of
from geocast.gateway.publishing import publish, withdraw
from geocast.gateway.schemas import Published, Withdrawal
from geocast.model import MAX_ID

__all__ = ["router"]

router: Final = APIRouter(tags=["publications"])

_BODY: Final = body(
    "A Feature, a FeatureCollection, or a sequence of Features. A Feature without an id gets one.",
    {
        Content.GEOJSON.value: ("Publication", "Publications"),
        Content.JSON.value: ("Publication", "Publications"),
        Content.SEQUENCE.value: (),
    },
)


@router.post(
    "/v1/publications",
    status_code=202,
    response_model=Published,
    responses=problems(400, 401, 403, 408, 413, 415, 422, 429, 503),
    openapi_extra=_BODY,
)
async def post_publications(request: Request, account: Publisher) -> Response:
    """Publish events. What is in the answer's `accepted` is in the log, durably.

    An id that you have published before is not published again (`duplicate`). Features that
    cannot be used are `rejected`, each with the reason; if there are no others, the answer is 422.
    """
    parts = parts_of(request)
    parts.rates.features(account, 0)
    content = Content.of(request.headers.get("content-type"))
    features = await parts.work(read_publications, await request.body(), content)
    return Json(await publish(parts, account, features), 202)


@router.delete(
    "/v1/publications/{id:path}",
    response_model=Withdrawal,
    responses=problems(401, 403, 404, 422, 429),
)
async def delete_publication(
    request: Request,
    id: Annotated[str, Path(min_length=1, max_length=MAX_ID)],  # noqa: A002
    account: Publisher,
) -> Response:
    """Withdraw an event: it is not delivered any more, and who has it already is told."""
    parts = parts_of(request)
    return Json(await parts.ask(withdraw, parts, account, id))
