"""What the tests of the repository say often."""

from __future__ import annotations

from collections.abc import Sequence

from geocast.model import Account, Kind, MatchRecord, Notification
from geocast.repository import Repository, Wanted

__all__ = ["asking", "deliver", "kinds", "record", "subscribe"]


def asking(text: str = "a = 1", *, endpoint: int | None = None) -> Wanted:
    """A subscription without an area, told apart by its filter."""
    return Wanted(None, None, text, {}, endpoint)


def subscribe(repository: Repository, account: Account, *ids: str) -> list[int]:
    """Add subscriptions and return the numbers of their versions."""
    added = repository.subscriptions.add_many(account.number, [(one, asking(one)) for one in ids])
    return [one.vnumber for one in added]


def record(
    offset: int, versions: Sequence[int], *, name: str | None = None, published: int | None = None
) -> MatchRecord:
    """A publication of `press` that matched these versions."""
    name = f"p{offset}" if name is None else name
    time = 1_000 + offset if published is None else published
    return MatchRecord(0, offset, time, "press", name, 7, 3, list(versions), b'{"n":%d}' % offset)


def deliver(repository: Repository, *records: MatchRecord) -> int:
    """Deliver records as the next of partition 0."""
    start = repository.mailbox.position("deliver", 0)
    return repository.mailbox.deliver("deliver", 0, start, start + len(records), records)


def kinds(notifications: Sequence[Notification]) -> list[tuple[str, str, Kind]]:
    """Whom and what notifications are about: subscription, publication, kind."""
    return [(one.subscription, one.publication, one.kind) for one in notifications]
