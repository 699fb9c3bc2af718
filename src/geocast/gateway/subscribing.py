"""Subscribe, change, unsubscribe, look up: between Features and the repository."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import orjson
import shapely

from geocast.deliver.topic_names import topic_name
from geocast.gateway.hooks import Hooks
from geocast.gateway.parts import Parts
from geocast.gateway.problems import Problem
from geocast.gateway.wishes import Wish, read_wishes
from geocast.model import Account, to_rfc3339
from geocast.repository import Repository, Subscription

__all__ = [
    "cancel",
    "change",
    "check_known",
    "look_up",
    "page",
    "pause",
    "resume",
    "subscribe",
    "wishes_of",
]


def subscribe(
    parts: Parts, account: Account, features: list[Any], *, single: bool
) -> list[dict[str, Any]]:
    """Make what Features ask for, and return it; all are made or none.

    `single` says that there is one, and was meant to be. Raises Problems, and ConflictError for
    an id that is taken.
    """
    wishes = wishes_of(parts, account, features, single)
    parts.room.check(len(wishes))
    hooks = _hooks(parts, account)
    if any(wish.hook for wish in wishes):
        _check_free(parts.repository, account, wishes)
    wanted = [(wish.id, hooks.attach(wish)) for wish in wishes]
    made = parts.repository.subscriptions.add_many(account.number, wanted)
    return [_feature(each, hooks) for each in made]


def change(parts: Parts, account: Account, identifier: str, body: Any) -> dict[str, Any]:
    """Give a subscription a new version, and return it; Problems if there is none or it is bad."""
    wish = wishes_of(parts, account, [body], True, identifier)[0]
    _standing(parts, account, identifier)
    hooks = _hooks(parts, account)
    wanted = hooks.attach(wish)
    changed = parts.repository.subscriptions.replace(account.number, identifier, wanted)
    if changed is None:
        raise _unknown(account, identifier)
    return _feature(changed, hooks)


def cancel(parts: Parts, account: Account, identifier: str) -> None:
    """Cancel a subscription; a Problem (404) if there is none."""
    if parts.repository.subscriptions.cancel(account.number, identifier) is None:
        raise _unknown(account, identifier)


def pause(parts: Parts, account: Account, identifier: str) -> dict[str, Any]:
    """Put a subscription out of force, and return it; a Problem (404) if there is none."""
    found = parts.repository.subscriptions.pause(account.number, identifier)
    return _told(parts, account, identifier, found)


def resume(parts: Parts, account: Account, identifier: str) -> dict[str, Any]:
    """Put a paused subscription into force, and return it; a Problem (404) if there is none."""
    found = parts.repository.subscriptions.resume(account.number, identifier)
    return _told(parts, account, identifier, found)


def _told(
    parts: Parts, account: Account, identifier: str, found: Subscription | None
) -> dict[str, Any]:
    if found is None:
        raise _unknown(account, identifier)
    return _feature(found, Hooks(parts.repository, account))


def check_known(parts: Parts, account: Account, identifier: str) -> None:
    """A Problem (404) unless the account has, or had, a subscription of that id."""
    subscriptions = parts.repository.subscriptions
    standing = subscriptions.get(account.number, identifier) is not None
    if not standing and not subscriptions.history(account.number, identifier):
        raise _unknown(account, identifier)


def look_up(parts: Parts, account: Account, identifier: str) -> dict[str, Any]:
    """Return a subscription as a Feature; a Problem (404) if there is none."""
    found = _standing(parts, account, identifier)
    return _feature(found, Hooks(parts.repository, account))


def page(
    parts: Parts,
    account: Account,
    bbox: tuple[float, float, float, float] | None,
    after: int,
    limit: int,
) -> tuple[list[dict[str, Any]], int | None]:
    """Return subscriptions as Features, and the number of the last where more follow."""
    found = parts.repository.subscriptions.page(
        account.number, bbox=bbox, after=after, limit=limit + 1
    )
    hooks = Hooks(parts.repository, account)
    features = [_feature(each, hooks) for each in found[:limit]]
    return features, found[limit - 1].number if len(found) > limit else None


def _hooks(parts: Parts, account: Account) -> Hooks:
    return Hooks(parts.repository, account, topic_name(parts.settings, account.name))


def wishes_of(
    parts: Parts,
    account: Account,
    features: list[Any],
    single: bool,
    identifier: str | None = None,
) -> list[Wish]:
    """Return the subscriptions that Features ask for; a Problem (422) if one cannot be used."""
    wishes, errors = read_wishes(
        features,
        allow_private=parts.settings.allow_private_webhooks,
        identifier=identifier,
        topic=topic_name(parts.settings, account.name),
    )
    if not errors:
        return wishes
    first = errors[0]
    detail = str(first["reason"])
    if not single:
        count = f"{len(errors)} of {len(features)} subscriptions cannot be used"
        detail = f"{count}; the first, at index {first['index']}: {detail}"
    position = first.get("position") if single else None
    raise Problem(422, detail, errors=errors, position=position)


def _check_free(repository: Repository, account: Account, wishes: Iterable[Wish]) -> None:
    """A Problem (409) if an id is taken: a webhook must not change for what is then refused."""
    for wish in wishes:
        found = repository.subscriptions.get(account.number, wish.id)
        if found is not None:
            raise Problem(409, f"there is a subscription {wish.id!r} already")


def _standing(parts: Parts, account: Account, identifier: str) -> Subscription:
    found = parts.repository.subscriptions.get(account.number, identifier)
    if found is None:
        raise _unknown(account, identifier)
    return found


def _unknown(account: Account, identifier: str) -> Problem:
    return Problem(404, f"account {account.name!r} has no subscription {identifier!r}")


def _feature(subscription: Subscription, hooks: Hooks) -> dict[str, Any]:
    """Return a subscription as a Feature: what was asked for, and how it stands."""
    wanted = subscription.wanted
    asked = {"predicate": wanted.predicate, "filter": _filter(wanted.filter)}
    given = {name: value for name, value in asked.items() if value is not None}
    given |= hooks.properties(wanted.endpoint)
    return {
        "type": "Feature",
        "id": subscription.id,
        "geometry": _geometry(wanted.geometry),
        "properties": {**wanted.properties, **given, "geocast": _state(subscription)},
    }


def _geometry(wkb: bytes | None) -> orjson.Fragment | None:
    return None if wkb is None else orjson.Fragment(shapely.to_geojson(shapely.from_wkb(wkb)))


def _filter(text: str | None) -> Any:
    """Return a filter as it is sent: CQL2 JSON as an object, CQL2 text as text."""
    return orjson.Fragment(text) if text and text.lstrip().startswith("{") else text


def _state(subscription: Subscription) -> dict[str, Any]:
    activated = subscription.activated
    return {
        "status": subscription.status,
        "version": subscription.version,
        "created": to_rfc3339(subscription.created),
        "changed": to_rfc3339(subscription.changed),
        "activated": None if activated is None else to_rfc3339(activated),
    }
