"""Routes that tell an account about itself: who it is, its dead letters, its webhooks."""

from __future__ import annotations

from typing import Annotated, Any, Final
from urllib.parse import urlsplit

from fastapi import APIRouter, Path, Query, Request

from geocast.gateway.admin import account_document
from geocast.gateway.admin_schemas import Me
from geocast.gateway.callers import Admin, Anybody, Subscriber
from geocast.gateway.documents import problems
from geocast.gateway.forms import NumberedCursor
from geocast.gateway.parts import Parts, parts_of
from geocast.gateway.problems import Problem
from geocast.gateway.schemas import MAX_NUMBER, DeadLetters, ParkedWebhooks, Webhook, Webhooks
from geocast.model import Account, Right, to_rfc3339
from geocast.repository import Endpoint

__all__ = ["router"]

router: Final = APIRouter(tags=["yours"])

_REFUSALS: Final = (401, 403, 422, 429)
_MOST_PARKED: Final = 100


@router.get("/v1/me", response_model=Me, responses=problems(401, 429))
async def get_me(request: Request, account: Anybody) -> Any:
    """Tell whose token this is."""
    parts = parts_of(request)
    return await parts.ask(_me, parts, account)


def _me(parts: Parts, account: Account) -> dict[str, Any]:
    return {
        **account_document(account),
        "subscriptions": parts.repository.subscriptions.count(account.number),
        "waiting": parts.repository.mailbox.depth(account.number),
    }


@router.get("/v1/dead-letters", response_model=DeadLetters, responses=problems(401, 422, 429))
async def get_dead_letters(
    request: Request,
    account: Anybody,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 100,
    cursor: Annotated[NumberedCursor | None, Query(description="`next` of a page")] = None,
    newest: Annotated[bool, Query(description="The newest first")] = False,
) -> Any:
    """List what you published and could not be used; administrators see everybody's."""
    parts = parts_of(request)
    publisher = None if Right.ADMIN in account.rights else account.name
    page = parts.repository.dead_letters.page
    found = await parts.ask(page, int(cursor or 0), limit + 1, publisher, newest=newest)
    return {
        "dead_letters": [
            {
                "number": each.number,
                "at": to_rfc3339(each.at),
                "where": each.where,
                "publisher": each.publisher,
                "id": each.id,
                "reason": each.reason,
                "value": each.value.decode(errors="replace"),
            }
            for each in found[:limit]
        ],
        "next": str(found[limit - 1].number) if len(found) > limit else None,
    }


@router.get("/v1/webhooks", response_model=Webhooks, responses=problems(401, 403, 429))
async def get_webhooks(request: Request, account: Subscriber) -> Any:
    """List your webhooks and how they fare."""
    parts = parts_of(request)
    found = await parts.ask(parts.repository.endpoints.page, account.number)
    return {"webhooks": [_webhook(each) for each in found]}


@router.get("/v1/webhooks/parked", response_model=ParkedWebhooks, responses=problems(401, 403, 429))
async def get_parked(request: Request, account: Admin) -> Any:
    """List the webhooks of all accounts that are parked, the last 100 first.

    Only the host of a URL is told: the rest may be a secret of its owner.
    """
    parts = parts_of(request)
    found = await parts.ask(parts.repository.endpoints.parked, _MOST_PARKED)
    return {"webhooks": [_parked(owner, each) for owner, each in found]}


def _parked(owner: str, endpoint: Endpoint) -> dict[str, Any]:
    address = urlsplit(endpoint.url)
    return {
        "account": owner,
        "number": endpoint.number,
        "host": address.netloc.rpartition("@")[2] or endpoint.url,
        "last_error": endpoint.last_error,
        "last_status": endpoint.last_status,
        "changed": to_rfc3339(endpoint.changed),
    }


@router.post(
    "/v1/webhooks/{number}/resume", response_model=Webhook, responses=problems(*_REFUSALS, 404)
)
async def post_resume(
    request: Request, number: Annotated[int, Path(ge=0, le=MAX_NUMBER)], account: Subscriber
) -> Any:
    """Try a parked webhook again; what waits for it is sent."""
    parts = parts_of(request)
    return _webhook(await parts.ask(_resume, parts, account, number))


def _resume(parts: Parts, account: Account, number: int) -> Endpoint:
    endpoints = parts.repository.endpoints
    endpoints.resume(account.number, number)
    found = endpoints.get(account.number, number)
    if found is None:
        raise Problem(404, f"account {account.name!r} has no webhook {number}")
    return found


def _webhook(endpoint: Endpoint) -> dict[str, Any]:
    return {
        "number": endpoint.number,
        "url": endpoint.url,
        "state": endpoint.state,
        "attempts": endpoint.attempts,
        "next_try": None if endpoint.next_try is None else to_rfc3339(endpoint.next_try),
        "last_error": endpoint.last_error,
        "last_status": endpoint.last_status,
        "changed": to_rfc3339(endpoint.changed),
    }
