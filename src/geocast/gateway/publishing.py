"""Publish and withdraw: from the features that were sent to receipts for them."""

from __future__ import annotations

from typing import Any

from geocast.gateway.features import Features
from geocast.gateway.parts import Parts
from geocast.gateway.problems import Problem
from geocast.log import Position
from geocast.model import Account, publication_key, to_rfc3339
from geocast.operate import metrics
from geocast.repository import DeadLetter

__all__ = ["publish", "withdraw"]


async def publish(parts: Parts, account: Account, features: Features) -> dict[str, Any]:
    """Append what is good to the log and return receipts; what is bad becomes dead letters.

    Raises a Problem (422) where nothing is good.
    """
    parts.rates.features(account, len(features))
    if features.rejected:
        await parts.ask(_bury, parts, account, features)
    if features.rejected and not features.good:
        raise _all_bad(features)
    records = [(publication_key(account.name, name), value) for name, value in features.good]
    positions = await parts.appender.append(records) if records else []
    metrics().publications.inc(sum(position.new for position in positions))
    return {
        "accepted": [
            _receipt(name, position)
            for (name, _), position in zip(features.good, positions, strict=True)
        ],
        "rejected": [rejected.error() for rejected in features.rejected],
    }


def _receipt(name: str, position: Position) -> dict[str, Any]:
    return {
        "id": name,
        "partition": position.partition,
        "offset": position.offset,
        "time": to_rfc3339(position.time),
        "duplicate": not position.new,
    }


def _bury(parts: Parts, account: Account, features: Features) -> None:
    letters = [
        DeadLetter("gateway", account.name, bad.id, bad.reason, bad.value)
        for bad in features.rejected
    ]
    parts.repository.dead_letters.add(letters)
    metrics().rejects.labels(where="gateway").inc(len(letters))


def _all_bad(features: Features) -> Problem:
    first = features.rejected[0]
    if features.single:
        detail = first.reason
    else:
        detail = f"none of {len(features)} features can be used; the first: {first.reason}"
    return Problem(422, detail, errors=[bad.error() for bad in features.rejected])


def withdraw(parts: Parts, account: Account, identifier: str) -> dict[str, Any]:
    """Withdraw a publication; a Problem (404) if the account never published it.

    It may be in mailboxes longer than in the log.
    """
    mailbox = parts.repository.mailbox
    record = parts.log.find(publication_key(account.name, identifier))
    if record is None and not mailbox.knows(account.name, identifier):
        raise Problem(404, f"account {account.name!r} has no publication {identifier!r}")
    published = None if record is None else record.time
    found = mailbox.withdraw(account, identifier, published=published)
    return {"known": found.known, "removed": found.removed, "notices": found.notices}
