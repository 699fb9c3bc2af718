"""Publish and withdraw."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from itertools import chain
from typing import Any, Final

import orjson

from geocast.client.core import Core, segment
from geocast.client.features import Chunk, FeatureLike, encode, make_feature
from geocast.client.values import Receipt
from geocast.client.wire import Answer, Request, Steps
from geocast.errors import InputError

__all__ = ["publish", "publish_chunk", "several", "unpublish"]

_PATH: Final = "/v1/publications"
_SEQUENCE: Final = {"content-type": "application/geo+json-seq"}
_FEATURE: Final = {"content-type": "application/geo+json"}


def publish(
    core: Core,
    given: FeatureLike,
    properties: Mapping[str, Any] | None,
    identifier: str | int | None,
) -> Steps[Receipt]:
    """Publish one feature; raises ServiceError where the service rejects it."""
    feature = make_feature(given, properties, identifier)
    request = Request("POST", _PATH, headers=_FEATURE, body=encode(feature))
    answer = yield from core.ask(request, 202)
    with core.reading("the receipt"):
        [entry] = orjson.loads(answer.body)["accepted"]
        return _receipt(0, entry)


def publish_chunk(core: Core, chunk: Chunk) -> Steps[list[Receipt]]:
    """Publish features together; return a receipt for each, in their order.

    What the service finds too large is sent again in halves.
    """
    refused = [Receipt(place, None, reason=reason) for place, reason in chunk.refused]
    sent = (yield from _send(core, chunk)) if chunk.texts else []
    return sorted(refused + sent, key=lambda receipt: receipt.index)


def _send(core: Core, chunk: Chunk) -> Steps[list[Receipt]]:
    body = b"".join(chain.from_iterable((b"\x1e", text, b"\n") for text in chunk.texts))
    request = Request("POST", _PATH, headers=_SEQUENCE, body=body)
    answer, _ = yield from core.ask_often(request)
    if answer.status == 202:
        with core.reading("the receipts"):
            return _receipts(chunk, orjson.loads(answer.body))
    if answer.status == 413 and len(chunk.texts) > 1:
        first, second = chunk.split()
        return (yield from _send(core, first)) + (yield from _send(core, second))
    reasons = _reasons(chunk, core, request, answer)
    return [_rejected(chunk, index, reason) for index, reason in enumerate(reasons)]


def _receipts(chunk: Chunk, answer: Mapping[str, Any]) -> list[Receipt]:
    """Join what was accepted, which comes in order, and what was not, by index."""
    rejected = {int(entry["index"]): str(entry["reason"]) for entry in answer["rejected"]}
    if len(answer["accepted"]) + len(rejected) != len(chunk.places):
        raise ValueError("not a receipt for each feature")
    accepted = iter(answer["accepted"])
    return [
        _rejected(chunk, index, rejected[index])
        if index in rejected
        else replace(_receipt(place, next(accepted)), id=chunk.ids[index])
        for index, place in enumerate(chunk.places)
    ]


def _receipt(place: int, entry: Mapping[str, Any]) -> Receipt:
    return Receipt(
        index=place,
        id=str(entry["id"]),
        partition=int(entry["partition"]),
        offset=int(entry["offset"]),
        published=datetime.fromisoformat(entry["time"]),
        duplicate=bool(entry["duplicate"]),
    )


def _rejected(chunk: Chunk, index: int, reason: str) -> Receipt:
    return Receipt(chunk.places[index], chunk.ids[index], reason=reason)


def _reasons(chunk: Chunk, core: Core, request: Request, answer: Answer) -> list[str]:
    """Return why each feature was rejected, where all were; raises ServiceError if not."""
    refusal = core.refusal(request, answer)
    if answer.status not in (413, 422):
        raise refusal
    errors = refusal.problem.get("errors") or []
    with core.reading("the reasons"):
        reasons = {int(entry["index"]): str(entry["reason"]) for entry in errors}
    if len(chunk.texts) == 1:
        return [reasons.get(0) or str(refusal.problem.get("detail") or refusal)]
    if len(reasons) < len(chunk.texts):
        raise refusal
    return [reasons[index] for index in range(len(chunk.texts))]


def unpublish(core: Core, identifier: str | int) -> Steps[dict[str, Any]]:
    """Withdraw a publication."""
    request = Request("DELETE", f"{_PATH}/{segment(identifier)}")
    answer = yield from core.ask(request, 200)
    with core.reading("the answer"):
        return dict(orjson.loads(answer.body))


def several(given: Any) -> Iterable[FeatureLike]:
    """Return the features of an iterable or of a FeatureCollection; raises InputError."""
    found = getattr(given, "__geo_interface__", given)
    if isinstance(found, Mapping):
        if found.get("type") != "FeatureCollection":
            raise InputError(f"publish takes one {found.get('type')}; publish_many takes several")
        found = found.get("features")
    if not isinstance(found, Iterable) or isinstance(found, str | bytes):
        raise InputError(f"features are expected, not {type(found).__name__}")
    return found
