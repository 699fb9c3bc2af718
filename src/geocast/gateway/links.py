"""Routes of links to sign in by: for a browser, which should not be given a token to keep."""

from __future__ import annotations

from typing import Any, Final

from fastapi import APIRouter, Request

from geocast.gateway.auth import token_of
from geocast.gateway.callers import Anybody
from geocast.gateway.documents import problems
from geocast.gateway.event_schemas import IssuedLink, LinkCode, NewLink, SignedIn
from geocast.gateway.parts import parts_of
from geocast.gateway.problems import Problem
from geocast.model import to_rfc3339

__all__ = ["router"]

router: Final = APIRouter(tags=["yours"])


@router.post(
    "/v1/links",
    status_code=201,
    response_model=IssuedLink,
    responses=problems(400, 401, 408, 413, 422, 429, 503),
)
async def post_link(request: Request, account: Anybody, asked: NewLink) -> Any:
    """Make a link that signs in to your account, once and soon."""
    parts = parts_of(request)
    issue = parts.repository.links.issue
    by = token_of(request)
    code, expires = await parts.ask(issue, account.number, asked.seconds, by=by)
    return {"code": code, "expires": to_rfc3339(expires)}


@router.post(
    "/v1/links/redeem",
    response_model=SignedIn,
    responses=problems(400, 404, 408, 413, 422, 429, 503),
)
async def post_redeem(request: Request, asked: LinkCode) -> Any:
    """Sign in by the code of a link, which cannot be used again; needs no token."""
    parts = parts_of(request)
    parts.rates.stranger(request.client.host if request.client else "")
    found = await parts.ask(parts.repository.links.redeem, asked.code)
    if found is None:
        raise Problem(404, "the link is not known, is over, or was used already")
    account, token = found
    rights = sorted(right.value for right in account.rights)
    return {"token": token, "account": account.name, "rights": rights}
