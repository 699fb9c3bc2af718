from __future__ import annotations

import pytest
from sqlalchemy import func, select

from geocast.errors import InputError
from geocast.model import Account, now
from geocast.repository import Repository
from geocast.repository.tables import body, event, withdrawal
from tests.repository.world import deliver, record, subscribe


def _left(repository: Repository, account: Account) -> list[tuple[str, str]]:
    rows = repository.mailbox.read(account.number, limit=100_000)
    return [(one.subscription, one.publication) for one in rows]


def _counts(repository: Repository) -> tuple[int, int, int]:
    with repository._database.read() as connection:
        counts = [
            connection.execute(select(func.count()).select_from(table)).scalar_one()
            for table in (event, body, withdrawal)
        ]
    return counts[0], counts[1], counts[2]


@pytest.fixture
def cursors(repository: Repository, ann: Account, bob: Account) -> list[int]:
    """Ann has p0 and p1 for her subscriptions one and two; bob has them, too."""
    one, two = subscribe(repository, ann, "one", "two")
    (other,) = subscribe(repository, bob, "one")
    deliver(repository, record(0, [one, two, other]), record(1, [one, two, other]))
    return [row.cursor for row in repository.mailbox.read(ann.number, limit=9)]


def test_through_a_cursor(
    repository: Repository, ann: Account, bob: Account, cursors: list[int]
) -> None:
    assert repository.mailbox.acknowledge(ann.number, through=cursors[2]) == 3
    assert _left(repository, ann) == [("two", "p1")]
    assert repository.mailbox.acknowledge(ann.number, through=cursors[2]) == 0
    assert len(_left(repository, bob)) == 2


def test_single_cursors(
    repository: Repository, ann: Account, bob: Account, cursors: list[int]
) -> None:
    (of_bob, _) = repository.mailbox.read(bob.number, limit=9)
    asked = [cursors[3], cursors[1], cursors[3], of_bob.cursor, 999]
    assert repository.mailbox.acknowledge(ann.number, cursors=asked) == 2
    assert _left(repository, ann) == [("one", "p0"), ("one", "p1")]
    assert len(_left(repository, bob)) == 2


def test_of_one_subscription(
    repository: Repository, ann: Account, bob: Account, cursors: list[int]
) -> None:
    acknowledge = repository.mailbox.acknowledge
    assert acknowledge(ann.number, through=cursors[2], subscription="two") == 1
    assert acknowledge(ann.number, cursors=cursors[2:], subscription="one") == 1
    assert _left(repository, ann) == [("one", "p0"), ("two", "p1")]
    assert acknowledge(ann.number, subscription="one") == 1
    assert acknowledge(ann.number, subscription="none") == 0
    assert _left(repository, ann) == [("two", "p1")]
    assert len(_left(repository, bob)) == 2


def test_both_at_once(repository: Repository, ann: Account, cursors: list[int]) -> None:
    found = repository.mailbox.acknowledge(ann.number, through=cursors[0], cursors=[cursors[3]])
    assert found == 2
    assert _left(repository, ann) == [("two", "p0"), ("one", "p1")]


def test_nothing_at_all_is_refused(repository: Repository, ann: Account) -> None:
    with pytest.raises(InputError, match="nothing to acknowledge"):
        repository.mailbox.acknowledge(ann.number)


def test_more_than_a_piece(repository: Repository, ann: Account) -> None:
    versions = subscribe(repository, ann, *(f"s{number}" for number in range(200)))
    deliver(repository, *(record(offset, versions) for offset in range(60)))
    rows = repository.mailbox.read(ann.number, limit=100_000)
    assert (
        repository.mailbox.acknowledge(ann.number, cursors=[r.cursor for r in rows[:5_500]])
        == 5_500
    )
    assert repository.mailbox.acknowledge(ann.number, through=rows[-2].cursor) == 6_499
    assert repository.mailbox.read(ann.number, limit=9) == rows[-1:]


def test_features_go_when_nobody_waits_for_them(
    repository: Repository, ann: Account, bob: Account, cursors: list[int]
) -> None:
    latest = repository.mailbox.latest()
    assert _counts(repository) == (2, 2, 0)
    repository.mailbox.acknowledge(ann.number, through=latest)
    assert _counts(repository) == (2, 2, 0)
    (first, _) = repository.mailbox.read(bob.number, limit=9)
    repository.mailbox.acknowledge(bob.number, cursors=[first.cursor])
    assert _counts(repository) == (2, 1, 0)
    (left,) = repository.mailbox.read(bob.number, limit=9)
    assert left.feature == b'{"n":1}'
    repository.mailbox.acknowledge(bob.number, through=latest)
    assert _counts(repository) == (2, 0, 0)


def test_expiry(repository: Repository, ann: Account, bob: Account, cursors: list[int]) -> None:
    (old, *_) = repository.mailbox.read(ann.number, limit=1)
    (one, *_) = (fact.vnumber for fact in repository.subscriptions.history(ann.number, "one"))
    deliver(repository, record(2, [one]))
    repository.mailbox.acknowledge(bob.number, through=repository.mailbox.latest())
    assert repository.mailbox.expire(old.notified) == 0
    assert repository.mailbox.expire(old.notified + 1) == 4
    assert _left(repository, ann) == [("one", "p2")]
    assert _counts(repository) == (1, 1, 0)
    assert repository.mailbox.expire(now() + 1) == 1
    assert _counts(repository) == (0, 0, 0)
    assert repository.mailbox.latest() == 7


def test_expiry_of_more_than_a_piece(repository: Repository, ann: Account) -> None:
    versions = subscribe(repository, ann, "one", "two")
    for start in range(0, 6_000, 3_000):
        deliver(repository, *(record(start + offset, versions) for offset in range(3_000)))
    assert repository.mailbox.expire(now() + 1) == 12_000
    assert _counts(repository) == (0, 0, 0)


def test_a_notice_outlives_the_event_that_it_is_about(
    repository: Repository, ann: Account, bob: Account, press: Account, cursors: list[int]
) -> None:
    latest = repository.mailbox.latest()
    for account in (ann, bob):
        repository.mailbox.acknowledge(account.number, through=latest)
    between = now()
    assert repository.mailbox.withdraw(press, "p0").notices == 3
    assert repository.mailbox.expire(between) == 0
    assert _left(repository, ann) == [("one", "p0"), ("two", "p0")]
    assert _counts(repository) == (1, 0, 1)
    assert repository.mailbox.expire(now() + 1) == 3
    assert _counts(repository) == (0, 0, 1)


def test_a_withdrawal_is_forgotten_when_it_is_old_and_settled(
    repository: Repository, ann: Account, press: Account
) -> None:
    (one,) = subscribe(repository, ann, "one")
    before = now()
    repository.mailbox.withdraw(press, "p0")
    after = now() + 1
    for old, settled in ((after, None), (after, before), (before, after)):
        repository.mailbox.expire(old, settled=settled)
        assert repository.mailbox.withdrawn(["press/p0"])
    assert deliver(repository, record(0, [one])) == 0
    repository.mailbox.expire(after, settled=after)
    assert not repository.mailbox.withdrawn(["press/p0"])
