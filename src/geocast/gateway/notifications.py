"""Routes of the mailbox."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from geocast.gateway.answers import Json
from geocast.gateway.callers import Subscriber
from geocast.gateway.documents import problems
from geocast.gateway.event_schemas import Counts
from geocast.gateway.parts import Parts, parts_of
from geocast.gateway.schemas import (
    MAX_NUMBER,
    AcknowledgeCursors,
    Acknowledged,
    AcknowledgeThrough,
    Notifications,
)
from geocast.gateway.subscribing import check_known
from geocast.model import MAX_ID, Account, cloud_event
from geocast.operate import metrics

__all__ = ["After", "OfSubscription", "acknowledge", "router"]

router: Final = APIRouter(tags=["notifications"])

After = Annotated[int | None, Query(ge=0, le=MAX_NUMBER, description="Only what follows it")]
OfSubscription = Annotated[
    str | None, Query(min_length=1, max_length=MAX_ID, description="Only of this subscription")
]


@router.get(
    "/v1/notifications",
    response_model=Notifications,
    responses=problems(401, 403, 404, 422, 429),
)
async def get_notifications(
    request: Request,
    account: Subscriber,
    after: After = None,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 100,
    subscription: OfSubscription = None,
    newest: Annotated[bool, Query(description="The last ones, newest first")] = False,
) -> Response:
    """Read what waits for you, oldest first. It stays until you acknowledge it, or it expires."""
    parts = parts_of(request)
    asked = _Asked(after or 0, limit, subscription, newest)
    return Json(await parts.ask(_page, parts, account, asked))


@dataclass(frozen=True, slots=True)
class _Asked:
    after: int
    limit: int
    subscription: str | None
    newest: bool


def _page(parts: Parts, account: Account, asked: _Asked) -> bytes:
    if asked.subscription is not None:
        check_known(parts, account, asked.subscription)
    found = parts.repository.mailbox.read(account.number, **asdict(asked))
    sent = parts.repository.mailbox.mark_delivered(account.number, found) if found else []
    metrics().notifications.labels(channel="poll").inc(len(sent))
    cursor = max((one.cursor for one in found), default=asked.after)
    return b'{"notifications":[%s],"cursor":%d}' % (b",".join(map(cloud_event, sent)), cursor)


@router.get("/v1/notifications/counts", response_model=Counts, responses=problems(401, 403, 429))
async def get_counts(request: Request, account: Subscriber) -> Any:
    """Count what waits for you, by subscription."""
    parts = parts_of(request)
    return {"subscriptions": await parts.ask(parts.repository.mailbox.waiting, account.number)}


@router.post(
    "/v1/notifications/ack",
    response_model=Acknowledged,
    responses=problems(400, 401, 403, 404, 408, 413, 422, 429, 503),
)
async def post_acknowledgement(
    request: Request, account: Subscriber, asked: AcknowledgeThrough | AcknowledgeCursors
) -> Any:
    """Acknowledge notifications: they leave the mailbox."""
    parts = parts_of(request)
    through = asked.through if isinstance(asked, AcknowledgeThrough) else None
    cursors = asked.cursors if isinstance(asked, AcknowledgeCursors) else ()
    return await parts.ask(acknowledge, parts, account, through, tuple(cursors), asked.subscription)


def acknowledge(
    parts: Parts,
    account: Account,
    through: int | None,
    cursors: tuple[int, ...],
    subscription: str | None,
) -> dict[str, int]:
    """Remove notifications from the mailbox of an account, and tell how many."""
    if subscription is not None:
        check_known(parts, account, subscription)
    removed = parts.repository.mailbox.acknowledge(
        account.number,
        through=through,
        cursors=cursors,
        subscription=subscription,
        by_reader=True,
    )
    return {"acknowledged": removed}
