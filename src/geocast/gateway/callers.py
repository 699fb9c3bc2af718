"""The callers of routes, as FastAPI dependencies: tokens are checked, requests counted."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Depends
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.requests import Request

from geocast.gateway.auth import check_right, token_of
from geocast.gateway.parts import parts_of
from geocast.model import Account, Right

__all__ = ["Admin", "Anybody", "Publisher", "Subscriber"]

_bearer = HTTPBearer(
    auto_error=False, scheme_name="token", description="A token of an account: `gct_...`"
)
_Documented = Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]


def _needs(right: Right | None) -> Callable[[Request, _Documented], Awaitable[Account]]:
    async def account(request: Request, _: _Documented) -> Account:
        parts = parts_of(request)
        found = await parts.doorkeeper.account(token_of(request))
        parts.rates.request(found)
        if right is not None:
            check_right(found, right)
        return found

    return account


Anybody = Annotated[Account, Depends(_needs(None))]
"""Whoever has a token."""

Publisher = Annotated[Account, Depends(_needs(Right.PUBLISH))]
"""An account with the right to publish."""

Subscriber = Annotated[Account, Depends(_needs(Right.SUBSCRIBE))]
"""An account with the right to subscribe."""

Admin = Annotated[Account, Depends(_needs(Right.ADMIN))]
"""An account with the right to administer."""
