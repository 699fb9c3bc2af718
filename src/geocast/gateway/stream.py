"""The stream of notifications as server-sent events."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing, suppress
from typing import Annotated, Final

from fastapi import APIRouter, Header, Request
from starlette.responses import Response, StreamingResponse

from geocast.gateway.auth import token_of
from geocast.gateway.callers import Subscriber
from geocast.gateway.documents import problems
from geocast.gateway.notifications import After, OfSubscription
from geocast.gateway.parts import Parts, parts_of
from geocast.gateway.problems import Problem
from geocast.gateway.schemas import MAX_NUMBER
from geocast.gateway.subscribing import check_known
from geocast.gateway.watch import counted_session, watch
from geocast.model import Account, Kind, Notification, cloud_event

__all__ = ["event", "router"]

router: Final = APIRouter(tags=["notifications"])

_NAMES: Final = {Kind.MATCH: b"match", Kind.WITHDRAWAL: b"withdrawal"}
_EVENTS: Final = {
    "description": "Server-sent events: `id` is the cursor, `event` is match or withdrawal, "
    "`data` is a CloudEvent",
    "content": {"text/event-stream": {"schema": {"type": "string"}}},
}


@router.get(
    "/v1/stream",
    response_class=StreamingResponse,
    response_model=None,
    responses={**problems(401, 403, 404, 422, 429), 200: _EVENTS},
)
async def get_stream(
    request: Request,
    account: Subscriber,
    after: After = None,
    subscription: OfSubscription = None,
    last_event_id: Annotated[str | None, Header()] = None,
) -> Response:
    """Get notifications as they come, beginning with what you have not acknowledged.

    With `Last-Event-ID`, or `after`, only what follows that cursor. A comment comes every 15
    seconds. Where no header can be sent, `access_token` in the query does.
    """
    parts = parts_of(request)
    start = _start(last_event_id, after)
    if subscription is not None:
        await parts.ask(check_known, parts, account, subscription)
    events = _events(parts, account, token_of(request), start, subscription)
    headers = {"X-Accel-Buffering": "no"}
    return StreamingResponse(events, headers=headers, media_type="text/event-stream")


def _start(last: str | None, after: int | None) -> int:
    if not last:
        return after or 0
    number = int(last) if last.isascii() and last.isdigit() and len(last) < 20 else -1
    if not 0 <= number <= MAX_NUMBER:
        raise Problem(422, f"header.Last-Event-ID: {last!r} is not a cursor")
    return number


async def _events(
    parts: Parts, account: Account, token: str | None, after: int, subscription: str | None
) -> AsyncIterator[bytes]:
    """Yield the bytes of a stream, until it is no longer allowed or the gateway closes."""
    found = watch(parts, account, token, channel="sse", after=after, subscription=subscription)
    with counted_session("sse"), suppress(Problem):
        yield b"retry: 1000\n\n"
        async with aclosing(found) as batches:
            async for batch in batches:
                yield b"".join(map(event, batch)) if batch else b":\n\n"


def event(notification: Notification) -> bytes:
    """Return a notification as one event of the stream."""
    name = _NAMES[notification.kind]
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (
        notification.cursor,
        name,
        cloud_event(notification),
    )
