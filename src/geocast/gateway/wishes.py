"""Features that ask for something: read and checked as subscriptions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

import pyarrow as pa
import shapely

from geocast.deliver.address import check_url
from geocast.deliver.signing import signing_key
from geocast.errors import InputError, LanguageError
from geocast.files.feature import BadRecordError, parse_feature
from geocast.files.geometry import json_kind
from geocast.files.subscription import subscription_fields
from geocast.gateway.checks import check_geometry_size, identifier_of, printed
from geocast.language import normalise
from geocast.match.subscriptions import read_subscriptions
from geocast.repository import Wanted

__all__ = ["RESERVED", "Hook", "Wish", "read_wishes", "table_of"]

RESERVED: Final = ("predicate", "filter", "webhook", "topic", "geocast")
"""Properties that mean something to the service; others are kept and returned."""

_MAX_SECRET: Final = 256


@dataclass(frozen=True, slots=True)
class Hook:
    """Where notifications are sent to; without a secret, one is made."""

    url: str
    secret: str | None


@dataclass(frozen=True, slots=True)
class Wish:
    """A subscription that can be made."""

    id: str
    wanted: Wanted
    hook: Hook | None
    topic: bool = False


def read_wishes(
    features: list[Any],
    *,
    allow_private: bool,
    identifier: str | None = None,
    topic: str | None = None,
) -> tuple[list[Wish], list[dict[str, Any]]]:
    """Return the subscriptions that features ask for, and what is wrong with the other ones.

    `identifier` is the id that a feature without one has, and that others must not contradict;
    `topic` is the name of the account's topic, where the service has topics.
    """
    wishes: list[Wish] = []
    places: list[int] = []
    errors: list[dict[str, Any]] = []
    for index, feature in enumerate(features):
        try:
            wishes.append(_read(feature, allow_private, identifier, topic))
            places.append(index)
        except BadRecordError as error:
            errors.append({"index": index, "id": error.identifier, "reason": error.reason})
    refused = _refused(wishes)
    errors += [
        {"index": places[row], "id": wishes[row].id, "reason": reason}
        | _position(wishes[row].wanted.filter, reason)
        for row, reason in refused.items()
    ]
    good = [wish for row, wish in enumerate(wishes) if row not in refused]
    return _with_bounds(good), sorted(errors, key=lambda error: int(error["index"]))


def _read(feature: Any, allow_private: bool, identifier: str | None, topic: str | None) -> Wish:
    if type(feature) is not dict:
        raise BadRecordError(f"not a GeoJSON Feature but {json_kind(feature)}")
    if identifier is not None and feature.get("id") is None:
        feature["id"] = identifier
    name = identifier_of(feature)
    if identifier not in (None, name):
        raise BadRecordError(f"the id is {name!r}, in the address {identifier!r}", name)
    feature["id"] = name
    record = parse_feature(b"", feature, "subscriptions")
    check_geometry_size(record.geometry, name)
    printed(feature, name)
    fields = subscription_fields(record.properties, name)
    hook = _hook(record.properties.get("webhook"), allow_private, name)
    if "\0" in (fields["filter"] or ""):
        raise BadRecordError("the filter has a NUL character", name)
    rest = {key: value for key, value in record.properties.items() if key not in RESERVED}
    wanted = Wanted(record.geometry, fields["predicate"], fields["filter"], rest)
    told = _topic(record.properties.get("topic"), topic, name)
    if told and hook is not None:
        raise BadRecordError("a subscription has a `webhook` or a `topic`, not both", name)
    return Wish(name, wanted, hook, told)


def _topic(value: Any, topic: str | None, name: str) -> bool:
    """Whether notifications go to the account's topic; it may also be named, as answers do."""
    if value is None or value is False:
        return False
    if topic is None:
        raise BadRecordError("this service has no topics: its logs are not in Kafka", name)
    if value is not True and value != topic:
        raise BadRecordError(f"`topic` must be true or false; yours is {topic!r}", name)
    return True


def _hook(value: Any, allow_private: bool, name: str) -> Hook | None:
    if value is None:
        return None
    url = value.get("url") if isinstance(value, dict) else None
    if not isinstance(url, str):
        raise BadRecordError("`webhook` must be an object with a text `url`", name)
    secret = value.get("secret")
    if secret is not None and not (isinstance(secret, str) and _is_secret(secret)):
        reason = f"`secret` of the webhook must be text of up to {_MAX_SECRET} printable characters"
        raise BadRecordError(reason, name)
    try:
        check_url(url, allow_private)
        if secret is not None:
            signing_key(secret)
    except InputError as error:
        raise BadRecordError(str(error), name) from None
    return Hook(url, secret)


def _is_secret(text: str) -> bool:
    return 0 < len(text) <= _MAX_SECRET and text.isprintable()


def _refused(wishes: list[Wish]) -> dict[int, str]:
    """Return the reasons why the matcher would not take them, by row."""
    if not wishes:
        return {}
    return {reject.row: reject.reason for reject in read_subscriptions(table_of(wishes)).rejects}


def table_of(wishes: list[Wish]) -> pa.Table:
    """Return what is wanted as a matcher takes it."""
    return pa.table(
        {
            "id": pa.array([wish.id for wish in wishes], pa.string()),
            "geometry": pa.array([wish.wanted.geometry for wish in wishes], pa.binary()),
            "predicate": pa.array([wish.wanted.predicate for wish in wishes], pa.string()),
            "filter": pa.array([wish.wanted.filter for wish in wishes], pa.string()),
        }
    )


def _position(text: str | None, reason: str) -> dict[str, int]:
    """Return where in a filter the reason lies why it is refused, if that is known."""
    try:
        normalise(text or "")
    except LanguageError as error:
        if error.position is not None and str(error) == reason:
            return {"position": error.position}
    return {}


def _with_bounds(wishes: list[Wish]) -> list[Wish]:
    bounds = shapely.bounds(shapely.from_wkb([wish.wanted.geometry for wish in wishes])).tolist()
    return [
        replace(wish, wanted=replace(wish.wanted, bounds=tuple(box)))
        if wish.wanted.geometry is not None
        else wish
        for wish, box in zip(wishes, bounds, strict=True)
    ]
