"""Subscribe, change, look up, unsubscribe; and wait until a subscription is active."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import uuid4

import orjson

from geocast.client.core import Core, segment
from geocast.client.features import GeometryLike, encode, geometry_of
from geocast.client.values import Facts
from geocast.client.wire import Answer, Request, Steps, Wait
from geocast.errors import InputError, ServiceError

__all__ = ["Wish", "change", "get", "page_through", "subscribe", "unsubscribe", "wait_active"]

_PATH: Final = "/v1/subscriptions"
_FEATURE: Final = {"content-type": "application/geo+json"}
_OWN: Final = ("predicate", "filter", "webhook", "geocast")
_LOOK_AGAIN: Final = 0.1


@dataclass(frozen=True, slots=True)
class Wish:
    """What a subscriber asks for, as given."""

    geometry: GeometryLike | None = None
    predicate: str | None = None
    filter: str | Mapping[str, Any] | None = None
    webhook: str | Mapping[str, Any] | None = None
    properties: Mapping[str, Any] | None = None

    @property
    def wants_secret(self) -> bool:
        """Whether the service is to make a secret for the webhook."""
        secret = self.webhook.get("secret") if isinstance(self.webhook, Mapping) else None
        return self.webhook is not None and secret is None

    def feature(self, identifier: str) -> dict[str, Any]:
        """Return it as the Feature that is sent; raises InputError where it cannot be one."""
        if self.geometry is None and self.filter is None:
            raise InputError("a subscription needs a geometry, a filter, or both")
        if taken := [name for name in _OWN if name in (self.properties or {})]:
            raise InputError(f"a property of a subscription may not be named {taken[0]!r}")
        webhook = {"url": self.webhook} if isinstance(self.webhook, str) else self.webhook
        asked = {"predicate": self.predicate, "filter": self.filter, "webhook": webhook}
        given = {name: value for name, value in asked.items() if value is not None}
        return {
            "type": "Feature",
            "id": identifier,
            "geometry": None if self.geometry is None else geometry_of(self.geometry),
            "properties": {**(self.properties or {}), **given},
        }


def subscribe(core: Core, wish: Wish, identifier: str | None) -> Steps[Facts]:
    """Make a subscription.

    An id that is made here is nobody else's: the service may be asked again after a broken
    connection, and "taken" then says that the first attempt arrived. With an id of the user's
    that could not be told apart from a real conflict, and a secret that the service makes for a
    webhook is told only once: there, doubt is an error.
    """
    chosen = uuid4().hex if identifier is None else identifier
    repeatable = identifier is None and not wish.wants_secret
    body = encode(wish.feature(chosen))
    request = Request("POST", _PATH, headers=_FEATURE, body=body, repeatable=repeatable)
    answer, doubtful = yield from core.ask_often(request)
    if answer.status == 409 and repeatable and doubtful:
        return (yield from get(core, chosen))
    if answer.status != 201:
        raise core.refusal(request, answer)
    return _facts(core, answer)


def change(core: Core, identifier: str, wish: Wish) -> Steps[Facts]:
    """Give a subscription a new version; the old one stands until the new one is active."""
    body = encode(wish.feature(identifier))
    # Where a secret is made for the webhook, only the first answer tells it.
    request = Request(
        "PUT",
        f"{_PATH}/{segment(identifier)}",
        headers=_FEATURE,
        body=body,
        repeatable=not wish.wants_secret,
    )
    return _facts(core, (yield from core.ask(request, 200)))


def get(core: Core, identifier: str) -> Steps[Facts]:
    """Look a subscription up."""
    request = Request("GET", f"{_PATH}/{segment(identifier)}")
    return _facts(core, (yield from core.ask(request, 200)))


def unsubscribe(core: Core, identifier: str) -> Steps[None]:
    """Cancel a subscription."""
    request = Request("DELETE", f"{_PATH}/{segment(identifier)}")
    answer, doubtful = yield from core.ask_often(request)
    if answer.status not in (200, 204) and not (answer.status == 404 and doubtful):
        raise core.refusal(request, answer)


def page_through(
    core: Core, bbox: tuple[float, float, float, float] | None, page: int
) -> Steps[None]:
    """Give all subscriptions, page by page."""
    query: dict[str, str | int] = {"limit": page}
    if bbox is not None:
        query["bbox"] = ",".join(repr(float(number)) for number in bbox)
    return core.pages(_PATH, query, "features", facts_of)


def wait_active(core: Core, identifier: str, timeout: float | None) -> Steps[Facts]:
    """Wait until a subscription is active; raises ServiceError where that takes too long."""
    start = time.monotonic()
    while True:
        facts = yield from get(core, identifier)
        if facts.status == "active":
            return facts
        late = timeout is not None and time.monotonic() - start >= timeout
        if late or facts.status in ("cancelled", "paused"):
            raise ServiceError(
                f"{core.url}: subscription {identifier!r} is {facts.status}, not active, "
                f"after {time.monotonic() - start:.1f} s"
            )
        yield Wait(_LOOK_AGAIN)


def _facts(core: Core, answer: Answer) -> Facts:
    with core.reading("the subscription"):
        return facts_of(orjson.loads(answer.body))


def facts_of(feature: dict[str, Any]) -> Facts:
    """Read a subscription from the Feature that the service tells it by."""
    properties = feature["properties"]
    state = properties["geocast"]
    activated = state.get("activated")
    return Facts(
        id=str(feature["id"]),
        geometry=feature["geometry"],
        predicate=properties.get("predicate"),
        filter=properties.get("filter"),
        webhook=properties.get("webhook"),
        properties={name: value for name, value in properties.items() if name not in _OWN},
        status=str(state["status"]),
        version=int(state["version"]),
        created=datetime.fromisoformat(state["created"]),
        activated=None if activated is None else datetime.fromisoformat(activated),
        feature=feature,
    )
