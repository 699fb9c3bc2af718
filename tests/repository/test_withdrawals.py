from __future__ import annotations

from contextlib import AbstractContextManager, closing

import pytest
from sqlalchemy import Connection

from geocast.model import Account, Kind, now
from geocast.repository import Owners, Repository, Withdrawn, changes, owners
from tests.repository.world import asking, deliver, kinds, record, subscribe

LATER = 3_600_000_000


def _read(repository: Repository, account: Account) -> list[tuple[str, str, Kind]]:
    return kinds(repository.mailbox.read(account.number, limit=99))


def _hand_over(repository: Repository, account: Account, limit: int = 99) -> None:
    """What a session does: read, mark, send."""
    rows = repository.mailbox.read(account.number, limit=limit)
    repository.mailbox.mark_delivered(account.number, rows)


def test_not_matched_yet(repository: Repository, ann: Account, press: Account) -> None:
    (one,) = subscribe(repository, ann, "one")
    assert not repository.mailbox.withdrawn(["press/p0"])
    assert repository.mailbox.withdraw(press, "p0") == Withdrawn(False, 0, 0)
    assert repository.mailbox.withdrawn(["press/p0"])
    assert not repository.mailbox.withdrawn(["ann/p0"])
    assert deliver(repository, record(0, [one]), record(1, [one])) == 1
    assert _read(repository, ann) == [("one", "p1", Kind.MATCH)]
    assert repository.mailbox.position("deliver", 0) == 2
    assert repository.mailbox.withdraw(press, "p0") == Withdrawn(True, 0, 0)


def test_matched_and_not_seen(
    repository: Repository, ann: Account, bob: Account, press: Account
) -> None:
    one, two = subscribe(repository, ann, "one", "two")
    (three,) = subscribe(repository, bob, "three")
    deliver(repository, record(0, [one, two, three]), record(1, [one]))
    assert repository.mailbox.withdraw(press, "p0") == Withdrawn(True, 3, 0)
    assert _read(repository, ann) == [("one", "p1", Kind.MATCH)]
    assert _read(repository, bob) == []


def test_seen(repository: Repository, ann: Account, press: Account) -> None:
    (one,) = subscribe(repository, ann, "one")
    deliver(repository, record(0, [one]), record(1, [one]))
    before = repository.mailbox.read(ann.number, limit=9)
    _hand_over(repository, ann)
    assert repository.mailbox.withdraw(press, "p0") == Withdrawn(True, 0, 1)
    assert _read(repository, ann) == [("one", "p1", Kind.MATCH), ("one", "p0", Kind.WITHDRAWAL)]
    notice = repository.mailbox.read(ann.number, limit=9)[1]
    match = before[0]
    assert notice.cursor == repository.mailbox.latest() > before[1].cursor
    assert notice.match == match.match
    assert (notice.version, notice.publisher, notice.published) == (1, "press", match.published)
    assert notice.notified >= match.notified
    assert notice.feature == b""


def test_acknowledged(repository: Repository, ann: Account, press: Account) -> None:
    (one,) = subscribe(repository, ann, "one")
    deliver(repository, record(0, [one]))
    _hand_over(repository, ann)
    repository.mailbox.acknowledge(ann.number, through=repository.mailbox.latest())
    assert repository.mailbox.withdraw(press, "p0") == Withdrawn(True, 0, 1)
    assert _read(repository, ann) == [("one", "p0", Kind.WITHDRAWAL)]
    assert repository.mailbox.acknowledge(ann.number, through=repository.mailbox.latest()) == 1
    assert _read(repository, ann) == []


def test_each_as_far_as_it_has_seen(
    repository: Repository, ann: Account, bob: Account, press: Account
) -> None:
    """Ann saw p0 for her first subscription only, and acknowledged the second; bob saw all."""
    one, two, three = subscribe(repository, ann, "one", "two", "three")
    other, more = subscribe(repository, bob, "one", "more")
    deliver(repository, record(0, [one, two, three, other, more]))
    rows = repository.mailbox.read(ann.number, limit=9)
    repository.mailbox.mark_delivered(ann.number, rows[:1])
    repository.mailbox.acknowledge(ann.number, cursors=[rows[1].cursor])
    _hand_over(repository, bob)
    assert repository.mailbox.withdraw(press, "p0") == Withdrawn(True, 1, 4)
    assert _read(repository, ann) == [
        ("one", "p0", Kind.WITHDRAWAL),
        ("two", "p0", Kind.WITHDRAWAL),
    ]
    assert _read(repository, bob) == [
        ("one", "p0", Kind.WITHDRAWAL),
        ("more", "p0", Kind.WITHDRAWAL),
    ]


def test_what_comes_after_the_mark_was_not_seen(
    repository: Repository, ann: Account, press: Account
) -> None:
    (one,) = subscribe(repository, ann, "one")
    deliver(repository, record(0, [one]))
    _hand_over(repository, ann)
    deliver(repository, record(1, [one]))
    assert repository.mailbox.withdraw(press, "p1") == Withdrawn(True, 1, 0)
    assert repository.mailbox.withdraw(press, "p0") == Withdrawn(True, 0, 1)


def test_a_mark_does_not_go_back(repository: Repository, ann: Account, press: Account) -> None:
    (one,) = subscribe(repository, ann, "one")
    deliver(repository, record(0, [one]), record(1, [one]))
    _hand_over(repository, ann)
    _hand_over(repository, ann, limit=1)
    assert repository.mailbox.withdraw(press, "p1") == Withdrawn(True, 0, 1)


def test_versions_of_one_subscription_are_told_apart(
    repository: Repository, ann: Account, press: Account
) -> None:
    first = repository.subscriptions.add(ann.number, "one", asking())
    deliver(repository, record(0, [first.vnumber]))
    _hand_over(repository, ann)
    second = repository.subscriptions.replace(ann.number, "one", asking())
    assert second is not None
    deliver(repository, record(1, [second.vnumber]))
    repository.subscriptions.cancel(ann.number, "one")
    assert repository.mailbox.withdraw(press, "p0") == Withdrawn(True, 0, 1)
    assert repository.mailbox.withdraw(press, "p1") == Withdrawn(True, 1, 0)
    (notice,) = repository.mailbox.read(ann.number, limit=9)
    assert (notice.publication, notice.version) == ("p0", 1)


def test_twice(repository: Repository, ann: Account, press: Account) -> None:
    (one,) = subscribe(repository, ann, "one")
    deliver(repository, record(0, [one]))
    _hand_over(repository, ann)
    repository.mailbox.withdraw(press, "p0")
    rows = repository.mailbox.read(ann.number, limit=9)
    assert repository.mailbox.withdraw(press, "p0") == Withdrawn(True, 0, 0)
    assert repository.mailbox.read(ann.number, limit=9) == rows
    repository.mailbox.acknowledge(ann.number, through=rows[-1].cursor)
    assert repository.mailbox.withdraw(press, "p0") == Withdrawn(True, 0, 0)
    assert _read(repository, ann) == []


def test_a_withdrawn_publication_is_not_delivered_again(
    repository: Repository, ann: Account, press: Account
) -> None:
    (one,) = subscribe(repository, ann, "one")
    deliver(repository, record(0, [one]))
    repository.mailbox.withdraw(press, "p0")
    assert deliver(repository, record(0, [one])) == 0
    assert _read(repository, ann) == []


def test_others_cannot_withdraw(repository: Repository, ann: Account, press: Account) -> None:
    (one,) = subscribe(repository, ann, "one")
    deliver(repository, record(0, [one]))
    assert repository.mailbox.withdraw(ann, "p0") == Withdrawn(False, 0, 0)
    assert _read(repository, ann) == [("one", "p0", Kind.MATCH)]


def test_the_same_id_published_later_is_another_publication(
    repository: Repository, ann: Account, press: Account
) -> None:
    (one,) = subscribe(repository, ann, "one")
    deliver(repository, record(0, [one], name="x", published=500))
    assert repository.mailbox.withdraw(press, "x", published=500) == Withdrawn(True, 1, 0)
    again = record(9, [one], name="x", published=501)
    assert deliver(repository, again) == 1
    assert repository.mailbox.withdraw(press, "x", published=500) == Withdrawn(True, 0, 0)
    assert repository.mailbox.withdraw(press, "x", published=501) == Withdrawn(True, 1, 0)
    future = record(10, [one], name="x", published=now() + LATER)
    assert repository.mailbox.withdraw(press, "x") == Withdrawn(True, 0, 0)
    assert deliver(repository, future) == 1


def test_an_earlier_time_does_not_undo_a_withdrawal(
    repository: Repository, ann: Account, press: Account
) -> None:
    (one,) = subscribe(repository, ann, "one")
    repository.mailbox.withdraw(press, "p0", published=1_000)
    repository.mailbox.withdraw(press, "p0", published=1)
    assert deliver(repository, record(0, [one])) == 0


def test_a_notice_goes_where_the_match_went(
    repository: Repository, ann: Account, press: Account
) -> None:
    hook = repository.endpoints.put(ann.number, "https://example.org/", "s")
    subscription = repository.subscriptions.add(ann.number, "one", asking(endpoint=hook.number))
    deliver(repository, record(0, [subscription.vnumber]))
    repository.mailbox.acknowledge(ann.number, through=repository.mailbox.latest())
    assert repository.endpoints.active_with_mail() == []
    repository.mailbox.withdraw(press, "p0")
    assert repository.endpoints.active_with_mail() == [hook]
    found = repository.mailbox.read(ann.number, limit=9, endpoint=hook.number)
    assert kinds(found) == [("one", "p0", Kind.WITHDRAWAL)]


def test_what_the_repository_knows(repository: Repository, ann: Account, press: Account) -> None:
    (one,) = subscribe(repository, ann, "one")
    deliver(repository, record(0, [one]))
    repository.mailbox.withdraw(press, "unmatched")
    assert repository.mailbox.knows("press", "p0")
    assert repository.mailbox.knows("press", "unmatched")
    assert not repository.mailbox.knows("press", "p1")
    assert not repository.mailbox.knows("ann", "p0")


def test_owners_are_looked_up_before_others_have_to_wait(
    repository: Repository, url: str, ann: Account, press: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    (one,) = subscribe(repository, ann, "one")
    deliver(repository, record(0, [one]))
    load, steps = changes.owners, []

    def loading(connection: Connection, after: int) -> Owners:
        steps.append("look up")
        return load(connection, after)

    with closing(Repository.open(url)) as other:
        write = other._database.write

        def writing() -> AbstractContextManager[Connection]:
            steps.append("write")
            return write()

        monkeypatch.setattr(owners, "owners", loading)
        monkeypatch.setattr(other._database, "write", writing)
        assert other.mailbox.withdraw(press, "p0") == Withdrawn(True, 1, 0)
    assert steps == ["look up", "write"]


def test_a_removed_account_gets_no_notice(
    repository: Repository, ann: Account, bob: Account, press: Account
) -> None:
    (one,), (two,) = subscribe(repository, ann, "one"), subscribe(repository, bob, "two")
    deliver(repository, record(0, [one, two]))
    for account in (ann, bob):
        _hand_over(repository, account)
    repository.accounts.remove("ann")
    assert repository.mailbox.withdraw(press, "p0") == Withdrawn(True, 0, 1)
    assert _read(repository, bob) == [("two", "p0", Kind.WITHDRAWAL)]
    assert repository.mailbox.depth() == 1
