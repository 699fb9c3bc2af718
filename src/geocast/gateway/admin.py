"""Routes for administrators: accounts and their tokens."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Final

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from geocast.gateway.admin_schemas import (
    AccountDocument,
    Accounts,
    IssuedToken,
    NewAccount,
    NewToken,
    Rights,
    Tokens,
)
from geocast.gateway.callers import Admin
from geocast.gateway.documents import problems
from geocast.gateway.forms import AccountName
from geocast.gateway.parts import Parts, parts_of
from geocast.gateway.problems import Problem
from geocast.gateway.schemas import MAX_NUMBER
from geocast.model import Account, Right, from_rfc3339, now, to_rfc3339

__all__ = ["account_document", "router"]

router: Final = APIRouter(tags=["accounts"])

_Name = Annotated[AccountName, Path()]
_Limit = Annotated[int, Query(ge=1, le=1_000)]
_REFUSALS: Final = (401, 403, 422, 429)
_BODY_REFUSALS: Final = (*_REFUSALS, 400, 408, 413, 503)


def account_document(account: Account) -> dict[str, Any]:
    """Return an account as answers tell it."""
    return {
        "name": account.name,
        "rights": sorted(right.value for right in account.rights),
        "created": to_rfc3339(account.created),
    }


def _time(at: int | None) -> str | None:
    return None if at is None else to_rfc3339(at)


@router.get("/v1/accounts", response_model=Accounts, responses=problems(*_REFUSALS))
async def get_accounts(
    request: Request,
    account: Admin,
    limit: _Limit = 100,
    cursor: Annotated[AccountName | None, Query(description="`next` of a page")] = None,
) -> Any:
    """List all accounts by name."""
    parts = parts_of(request)
    found = await parts.ask(parts.repository.accounts.page, cursor, limit + 1)
    return {
        "accounts": [account_document(each) for each in found[:limit]],
        "next": found[limit - 1].name if len(found) > limit else None,
    }


@router.post(
    "/v1/accounts",
    status_code=201,
    response_model=AccountDocument,
    responses=problems(*_BODY_REFUSALS, 409),
)
async def post_account(
    request: Request, response: Response, account: Admin, asked: NewAccount
) -> Any:
    """Make an account. It can do nothing until it has a token."""
    parts = parts_of(request)
    rights = [Right(name) for name in asked.rights]
    made = await parts.ask(parts.repository.accounts.add, asked.name, rights)
    response.headers["Location"] = f"/v1/accounts/{made.name}"
    return account_document(made)


@router.get(
    "/v1/accounts/{name}", response_model=AccountDocument, responses=problems(*_REFUSALS, 404)
)
async def get_account(request: Request, name: _Name, account: Admin) -> Any:
    """Look an account up."""
    parts = parts_of(request)
    return account_document(await parts.ask(_account, parts, name))


def _account(parts: Parts, name: str) -> Account:
    found = parts.repository.accounts.get(name)
    if found is None:
        raise Problem(404, f"there is no account {name!r}")
    return found


@router.put(
    "/v1/accounts/{name}",
    response_model=AccountDocument,
    responses=problems(*_BODY_REFUSALS, 404, 409),
)
async def put_account(request: Request, name: _Name, account: Admin, asked: Rights) -> Any:
    """Give an account these rights and no others."""
    parts = parts_of(request)
    await parts.ask(_account, parts, name)
    rights = [Right(right) for right in asked.rights]
    if name == account.name and Right.ADMIN not in rights:
        raise Problem(409, "you cannot take the right 'admin' from yourself")
    changed = await parts.ask(parts.repository.accounts.set_rights, name, rights)
    parts.doorkeeper.forget()
    return account_document(changed)


@router.delete(
    "/v1/accounts/{name}",
    status_code=204,
    response_model=None,
    responses=problems(*_REFUSALS, 404, 409),
)
async def delete_account(request: Request, name: _Name, account: Admin) -> Response:
    """Remove an account, its tokens and its mailbox, and cancel its subscriptions."""
    parts = parts_of(request)
    if name == account.name:
        raise Problem(409, "you cannot remove your own account")
    if not await parts.ask(parts.repository.accounts.remove, name):
        raise Problem(404, f"there is no account {name!r}")
    parts.doorkeeper.forget()
    return Response(status_code=204)


@router.get(
    "/v1/accounts/{name}/tokens", response_model=Tokens, responses=problems(*_REFUSALS, 404)
)
async def get_tokens(request: Request, name: _Name, account: Admin) -> Any:
    """List the tokens of an account; the tokens themselves are not known."""
    parts = parts_of(request)
    owner = await parts.ask(_account, parts, name)
    found = await parts.ask(parts.repository.accounts.tokens, owner.number)
    return {
        "tokens": [
            {
                "number": each.number,
                "label": each.label,
                "created": to_rfc3339(each.created),
                "expires": _time(each.expires),
            }
            for each in found
        ]
    }


@router.post(
    "/v1/accounts/{name}/tokens",
    status_code=201,
    response_model=IssuedToken,
    responses=problems(*_BODY_REFUSALS, 404),
)
async def post_token(request: Request, name: _Name, account: Admin, asked: NewToken) -> Any:
    """Make a token for an account. It is told this once only."""
    parts = parts_of(request)
    owner = await parts.ask(_account, parts, name)
    expires = _expiry(asked.expires)
    issue = parts.repository.accounts.issue_token
    number, token = await parts.ask(issue, owner.number, asked.label, expires)
    return {"number": number, "token": token, "label": asked.label, "expires": _time(expires)}


def _expiry(moment: datetime | None) -> int | None:
    if moment is None:
        return None
    at = from_rfc3339(moment.isoformat())
    if at <= now():
        raise Problem(422, "body.expires: that time is over")
    return at


@router.delete(
    "/v1/accounts/{name}/tokens/{number}",
    status_code=204,
    response_model=None,
    responses=problems(*_REFUSALS, 404),
)
async def delete_token(
    request: Request,
    name: _Name,
    number: Annotated[int, Path(ge=0, le=MAX_NUMBER)],
    account: Admin,
) -> Response:
    """Revoke a token: it can no longer be used."""
    parts = parts_of(request)
    owner = await parts.ask(_account, parts, name)
    if not await parts.ask(parts.repository.accounts.revoke, owner.number, number):
        raise Problem(404, f"account {name!r} has no token {number}")
    parts.doorkeeper.forget()
    return Response(status_code=204)
