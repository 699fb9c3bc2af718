"""What administrators do: accounts, tokens, how the service fares."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final

import orjson

from geocast.client.core import Core, segment
from geocast.client.features import encode
from geocast.client.values import Account
from geocast.client.wire import Answer, Request, Steps

__all__ = ["add", "issue_link", "issue_token", "me", "page_through", "remove", "status"]

_PATH: Final = "/v1/accounts"
_JSON: Final = {"content-type": "application/json"}


def me(core: Core) -> Steps[Account]:
    """Return the account that the token belongs to."""
    return _account(core, (yield from core.ask(Request("GET", "/v1/me"), 200)))


def add(core: Core, name: str, rights: Iterable[str]) -> Steps[Account]:
    """Make an account; it cannot be known whether a doubtful attempt made it, so none is made."""
    body = encode({"name": name, "rights": sorted(rights)})
    request = Request("POST", _PATH, headers=_JSON, body=body, repeatable=False)
    return _account(core, (yield from core.ask(request, 201)))


def page_through(core: Core) -> Steps[None]:
    """Give all accounts, page by page."""
    return core.pages(_PATH, {}, "accounts", _account_of)


def remove(core: Core, name: str) -> Steps[None]:
    """Remove an account, its tokens and its subscriptions."""
    request = Request("DELETE", f"{_PATH}/{segment(name)}")
    answer, doubtful = yield from core.ask_often(request)
    if answer.status not in (200, 204) and not (answer.status == 404 and doubtful):
        raise core.refusal(request, answer)


def issue_token(core: Core, name: str, label: str) -> Steps[str]:
    """Return a new token for an account; the service tells it only this once."""
    path = f"{_PATH}/{segment(name)}/tokens"
    request = Request("POST", path, headers=_JSON, body=encode({"label": label}), repeatable=False)
    answer = yield from core.ask(request, 201)
    with core.reading("the token"):
        return str(orjson.loads(answer.body)["token"])


def issue_link(core: Core, seconds: int) -> Steps[str]:
    """Return the address at which the map opens, signed in as the owner of the token, once."""
    body = encode({"seconds": seconds})
    request = Request("POST", "/v1/links", headers=_JSON, body=body, repeatable=False)
    answer = yield from core.ask(request, 201)
    with core.reading("the link"):
        return f"{core.url}/#link={orjson.loads(answer.body)['code']}"


def status(core: Core) -> Steps[dict[str, Any]]:
    """Return the numbers of the service, as it tells them."""
    answer = yield from core.ask(Request("GET", "/v1/status"), 200)
    with core.reading("the status"):
        return dict(orjson.loads(answer.body))


def _account(core: Core, answer: Answer) -> Account:
    with core.reading("the account"):
        return _account_of(orjson.loads(answer.body))


def _account_of(entry: Mapping[str, Any]) -> Account:
    created = entry.get("created")
    return Account(
        name=str(entry["name"]),
        rights=frozenset(entry["rights"]),
        created=None if created is None else datetime.fromisoformat(created),
    )
