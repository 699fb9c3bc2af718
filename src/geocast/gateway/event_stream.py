"""The stream of publications as server-sent events."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing, suppress
from typing import Annotated, Final

from fastapi import APIRouter, Header, Request
from starlette.responses import Response, StreamingResponse

from geocast.gateway import watch
from geocast.gateway.auth import token_of
from geocast.gateway.callers import Subscriber
from geocast.gateway.documents import problems
from geocast.gateway.event_feed import Message
from geocast.gateway.events import places_of, text_of
from geocast.gateway.parts import Parts, parts_of
from geocast.gateway.problems import Problem

__all__ = ["event", "router"]

router: Final = APIRouter(tags=["events"])

_EVENTS: Final = {
    "description": "Server-sent events: `event` is events, `data` is an EventsMessage, `id` is "
    "what to send as Last-Event-ID",
    "content": {"text/event-stream": {"schema": {"type": "string"}}},
}


@router.get(
    "/v1/events/stream",
    response_class=StreamingResponse,
    response_model=None,
    responses={**problems(401, 403, 422, 429), 200: _EVENTS},
)
async def get_event_stream(
    request: Request,
    account: Subscriber,
    last_event_id: Annotated[str | None, Header()] = None,
) -> Response:
    """Get what everybody publishes, as it comes; with `Last-Event-ID` also what came since then.

    A message comes ten times a second at most, and has 1,000 events at most; `skipped` counts the
    others. A comment comes every 15 seconds. For a map: what must not be missed, subscribe to.
    """
    parts = parts_of(request)
    events = _events(parts, token_of(request), _start(parts, last_event_id))
    headers = {"X-Accel-Buffering": "no"}
    return StreamingResponse(events, headers=headers, media_type="text/event-stream")


def _start(parts: Parts, last: str | None) -> list[int] | None:
    if not last:
        return None
    numbers = last.split("-")
    if all(one.isascii() and one.isdigit() and len(one) < 19 for one in numbers):
        places = places_of(last, parts.log.partitions)
        if places is not None:
            return places
    raise Problem(422, f"header.Last-Event-ID: {last!r} is no id of this stream")


async def _events(parts: Parts, token: str | None, after: list[int] | None) -> AsyncIterator[bytes]:
    """Yield the bytes of a stream, until it is no longer allowed or the gateway closes."""
    permit = watch.Permit(parts, token)
    found = parts.events.messages(after, heartbeat=watch.HEARTBEAT_SECONDS)
    with watch.counted_session("events"), suppress(Problem):
        async with aclosing(found) as messages:
            first = await anext(messages)
            yield b"retry: 1000\n" + (event(first) if first.count else _beginning(first))
            async for message in messages:
                await permit.check()
                yield event(message) if message.count else b":\n\n"


def _beginning(message: Message) -> bytes:
    """Return what tells a client where its stream begins, should it have to come back."""
    return b"id: %s\n\n" % text_of(message.places).encode()


def event(message: Message) -> bytes:
    """Return a message as one event of the stream."""
    return b'id: %s\nevent: events\ndata: {"features":[%s],"skipped":%d}\n\n' % (
        text_of(message.places).encode(),
        b",".join(message.features),
        message.skipped,
    )
