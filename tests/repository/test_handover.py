"""Handing over in bulk: the same as reading and marking one by one."""

from __future__ import annotations

from geocast.model import Account, Kind
from geocast.repository import Repository
from tests.repository.world import asking, deliver, kinds, record


def filled(repository: Repository, account: Account) -> tuple[int, list[int]]:
    """An endpoint with two subscriptions, and one of the account's without it."""
    hook = repository.endpoints.put(account.number, "kafka:t", "s").number
    wanted = [("one", asking("a", endpoint=hook)), ("two", asking("b", endpoint=hook))]
    added = repository.subscriptions.add_many(account.number, [*wanted, ("apart", asking("c"))])
    return hook, [one.vnumber for one in added]


def test_the_same_as_reading(repository: Repository, ann: Account) -> None:
    hook, (one, two, apart) = filled(repository, ann)
    deliver(repository, *(record(i, [one, two, apart] if i % 2 else [two]) for i in range(9)))
    changed = repository.subscriptions.replace(ann.number, "two", asking("d", endpoint=hook))
    assert changed is not None
    deliver(repository, record(9, [changed.vnumber]))
    read = repository.mailbox.read(ann.number, endpoint=hook, limit=100)
    assert len(read) == 14
    assert repository.mailbox.hand_over(hook, limit=100) == read
    assert repository.mailbox.hand_over(hook, limit=3) == read[:3]
    assert repository.mailbox.hand_over(hook + 1, limit=3) == []


def test_bytes_bound_it(repository: Repository, ann: Account) -> None:
    hook, (one, two, _) = filled(repository, ann)
    deliver(repository, *(record(i, [one, two]) for i in range(5)))
    size = len(record(0, []).feature)
    for most, count in ((1, 1), (size, 1), (3 * size, 3), (100 * size, 10)):
        found = repository.mailbox.hand_over(hook, limit=100, max_bytes=most)
        assert len(found) == count


def test_what_was_handed_over_counts_as_seen(
    repository: Repository, ann: Account, press: Account
) -> None:
    hook, (one, two, apart) = filled(repository, ann)
    deliver(repository, record(0, [one]), record(1, [two]), record(2, [one, apart]))
    assert len(repository.mailbox.hand_over(hook, limit=2)) == 2
    for name in ("p0", "p2"):
        repository.mailbox.withdraw(press, name)
    rest = repository.mailbox.hand_over(hook, limit=10)
    assert kinds(rest) == [("two", "p1", Kind.MATCH), ("one", "p0", Kind.WITHDRAWAL)]
    assert rest[1].feature == b""


def test_taken_out_is_what_was_handed_over(
    repository: Repository, ann: Account, press: Account
) -> None:
    hook, (one, two, apart) = filled(repository, ann)
    deliver(repository, *(record(i, [one, two, apart]) for i in range(4)))
    first = repository.mailbox.hand_over(hook, limit=5)
    assert repository.mailbox.take_out(hook, first[0].cursor, first[-1].cursor) == 5
    assert repository.mailbox.take_out(hook, first[0].cursor, first[-1].cursor) == 0
    rest = repository.mailbox.hand_over(hook, limit=10)
    assert [row.cursor for row in rest] == sorted(row.cursor for row in rest)
    assert (
        kinds(rest) == [(name, f"p{i}", Kind.MATCH) for i in (2, 3) for name in ("one", "two")][1:]
    )
    left = repository.mailbox.read(ann.number, limit=100)
    assert [row.feature for row in left if row.subscription == "apart"] == [
        b'{"n":%d}' % i for i in range(4)
    ]
    repository.mailbox.take_out(hook, rest[0].cursor, rest[-1].cursor)
    assert len(repository.mailbox.read(ann.number, limit=100)) == 4
