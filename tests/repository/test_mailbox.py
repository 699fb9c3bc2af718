from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import Connection
from sqlalchemy import event as events

from geocast.errors import StateError
from geocast.model import Account, Kind, MatchRecord, Notification, match_id, now
from geocast.repository import MOST_BYTES, Repository
from geocast.repository.sqlite import SqliteDatabase
from tests.repository.world import asking, deliver, kinds, record, subscribe


def test_a_notification_tells_everything(repository: Repository, ann: Account) -> None:
    repository.subscriptions.add(ann.number, "one", asking())
    subscription = repository.subscriptions.replace(ann.number, "one", asking())
    assert subscription is not None
    before = now()
    sent = MatchRecord(
        1, 8, 99, "press", "a/b", 2, 3, [subscription.vnumber], b'{"type":"Feature"}'
    )
    assert deliver(repository, sent) == 1
    (got,) = repository.mailbox.read(ann.number, limit=10)
    assert before <= got.notified <= now()
    assert got == Notification(
        cursor=repository.mailbox.latest(),
        match=match_id(repository.deployment, 1, 8, subscription.number, 2),
        kind=Kind.MATCH,
        subscription="one",
        version=2,
        publisher="press",
        publication="a/b",
        published=99,
        notified=got.notified,
        feature=b'{"type":"Feature"}',
    )


def test_mailboxes_are_apart_and_in_order(
    repository: Repository, ann: Account, bob: Account
) -> None:
    one, two = subscribe(repository, ann, "one", "two")
    (three,) = subscribe(repository, bob, "three")
    assert deliver(repository, record(0, [one, two, three]), record(1, [three])) == 4
    assert deliver(repository, record(2, [two])) == 1
    of_ann = repository.mailbox.read(ann.number, limit=10)
    assert kinds(of_ann) == [
        ("one", "p0", Kind.MATCH),
        ("two", "p0", Kind.MATCH),
        ("two", "p2", Kind.MATCH),
    ]
    of_bob = repository.mailbox.read(bob.number, limit=10)
    assert kinds(of_bob) == [("three", "p0", Kind.MATCH), ("three", "p1", Kind.MATCH)]
    assert [one.feature for one in of_bob] == [b'{"n":0}', b'{"n":1}']
    cursors = [one.cursor for one in of_ann]
    assert cursors == sorted(set(cursors))
    assert len({one.match for one in of_ann + of_bob}) == 5


def test_reading_goes_on_after_a_cursor(repository: Repository, ann: Account) -> None:
    (one,) = subscribe(repository, ann, "one")
    deliver(repository, *(record(offset, [one]) for offset in range(5)))
    first = repository.mailbox.read(ann.number, limit=2)
    rest = repository.mailbox.read(ann.number, after=first[-1].cursor, limit=10)
    assert [it.publication for it in first + rest] == ["p0", "p1", "p2", "p3", "p4"]
    assert repository.mailbox.read(ann.number, after=rest[-1].cursor, limit=10) == []


def test_reading_the_newest_first(repository: Repository, ann: Account) -> None:
    one, two = subscribe(repository, ann, "one", "two")
    deliver(repository, *(record(offset, [one, two]) for offset in range(5)))
    found = repository.mailbox.read(ann.number, limit=2, subscription="two", newest=True)
    assert kinds(found) == [("two", "p4", Kind.MATCH), ("two", "p3", Kind.MATCH)]
    after = found[-1].cursor
    newer = repository.mailbox.read(ann.number, after=after, limit=9, newest=True)
    assert [it.cursor for it in newer] == sorted((it.cursor for it in newer), reverse=True)
    assert min(it.cursor for it in newer) > after


def test_reading_one_subscription(repository: Repository, ann: Account, bob: Account) -> None:
    one, two = subscribe(repository, ann, "one", "two")
    deliver(repository, *(record(offset, [one, two]) for offset in range(3)))
    found = repository.mailbox.read(ann.number, limit=2, subscription="two")
    assert kinds(found) == [("two", "p0", Kind.MATCH), ("two", "p1", Kind.MATCH)]
    assert repository.mailbox.read(ann.number, limit=2, subscription="none") == []
    assert repository.mailbox.read(bob.number, limit=2, subscription="two") == []


def test_reading_what_goes_to_webhooks(repository: Repository, ann: Account, bob: Account) -> None:
    first, second = (
        repository.endpoints.put(ann.number, f"https://example.org/{n}", "s").number for n in "ab"
    )
    wanted = [("a", asking(endpoint=first)), ("b", asking(endpoint=second)), ("c", asking())]
    versions = [one.vnumber for one in repository.subscriptions.add_many(ann.number, wanted)]
    deliver(repository, record(0, versions))

    def read(account: Account, endpoint: int | None) -> list[str]:
        found = repository.mailbox.read(account.number, limit=9, endpoint=endpoint)
        return [one.subscription for one in found]

    assert read(ann, None) == ["a", "b", "c"]
    assert read(ann, second) == ["b"]
    assert read(bob, second) == []


def test_readers_leave_what_a_webhook_has_to_get(repository: Repository, ann: Account) -> None:
    hook = repository.endpoints.put(ann.number, "https://example.org/", "s").number
    wanted = [("hooked", asking(endpoint=hook)), ("plain", asking())]
    versions = [one.vnumber for one in repository.subscriptions.add_many(ann.number, wanted)]
    deliver(repository, *(record(offset, versions) for offset in range(3)))
    mailbox = repository.mailbox

    def waiting() -> dict[str, int]:
        return mailbox.waiting(ann.number)

    one, *_ = mailbox.read(ann.number, limit=9, subscription="hooked")
    assert mailbox.acknowledge(ann.number, cursors=[one.cursor], by_reader=True) == 0
    assert mailbox.acknowledge(ann.number, through=mailbox.latest(), by_reader=True) == 3
    assert waiting() == {"hooked": 3}
    assert mailbox.acknowledge(ann.number, cursors=[one.cursor]) == 1, "the webhook itself may"
    repository.endpoints.park(hook, "gone", status=410)
    assert mailbox.acknowledge(ann.number, subscription="hooked", by_reader=True) == 2
    assert waiting() == {}


def test_large_features_are_read_a_few_at_a_time(repository: Repository, ann: Account) -> None:
    versions = subscribe(repository, ann, *(f"s{n}" for n in range(10)))
    large = b'{"type":"Feature","id":"%s","x":"' + b"y" * (MOST_BYTES // 4) + b'"}'
    records = [
        replace(
            record(offset, versions if offset else versions[:1]), feature=large % b"p%d" % offset
        )
        for offset in range(2)
    ]
    deliver(repository, *records)
    found: list[Notification] = []
    while part := repository.mailbox.read(
        ann.number, limit=100, after=found[-1].cursor if found else 0
    ):
        assert sum(len(one.feature) for one in part) <= MOST_BYTES
        found += part
    assert len(found) == 11
    assert {one.feature for one in found} == {one.feature for one in records}


def test_mail_of_a_cancelled_subscription_stays(repository: Repository, ann: Account) -> None:
    (one,) = subscribe(repository, ann, "one")
    deliver(repository, record(0, [one]))
    repository.subscriptions.cancel(ann.number, "one")
    deliver(repository, record(1, [one]))
    assert len(repository.mailbox.read(ann.number, limit=9, subscription="one")) == 2


def test_the_position_moves_with_the_mail(repository: Repository, ann: Account) -> None:
    (one,) = subscribe(repository, ann, "one")
    mailbox = repository.mailbox
    assert mailbox.position("deliver", 3) == 0
    mailbox.deliver("deliver", 3, 0, 10, [record(0, [one])])
    assert mailbox.position("deliver", 3) == 10
    assert mailbox.position("deliver", 2) == 0
    assert mailbox.position("other", 3) == 0
    mailbox.deliver("deliver", 3, 10, 12, [])
    assert mailbox.position("deliver", 3) == 12


def test_only_who_stands_at_the_start_delivers(repository: Repository, ann: Account) -> None:
    (one,) = subscribe(repository, ann, "one")
    deliver(repository, record(0, [one]))
    for start in (0, 2):
        with pytest.raises(StateError, match=f"partition 0 is at 1, not at {start}"):
            repository.mailbox.deliver("deliver", 0, start, 5, [record(1, [one])])
    assert repository.mailbox.depth() == 1
    assert repository.mailbox.position("deliver", 0) == 1


def test_a_version_that_does_not_exist_delivers_nothing(
    repository: Repository, ann: Account
) -> None:
    with pytest.raises(StateError, match="no subscription version 77"):
        deliver(repository, record(0, [77]))
    (one,) = subscribe(repository, ann, "one")
    with pytest.raises(StateError, match="no subscription version 77"):
        deliver(repository, record(0, [one]), record(1, [one, 77]))
    assert (repository.mailbox.depth(), repository.mailbox.latest()) == (0, 0)
    assert repository.mailbox.position("deliver", 0) == 0


def test_versions_that_are_new_are_noticed(repository: Repository, ann: Account) -> None:
    (one,) = subscribe(repository, ann, "one")
    deliver(repository, record(0, [one]))
    (two,) = subscribe(repository, ann, "two")
    assert deliver(repository, record(1, [one, two])) == 2


def test_a_publication_is_delivered_once(repository: Repository, ann: Account) -> None:
    one, two = subscribe(repository, ann, "one", "two")
    assert deliver(repository, record(0, [one]), record(0, [one])) == 1
    assert deliver(repository, record(0, [one, two]), record(1, [two])) == 1
    repository.mailbox.acknowledge(ann.number, through=repository.mailbox.latest())
    assert deliver(repository, record(0, [one]), record(1, [two])) == 0
    assert repository.mailbox.depth() == 0


def test_a_publication_that_concerns_nobody(repository: Repository) -> None:
    assert deliver(repository, record(0, []), record(1, [])) == 0
    assert repository.mailbox.position("deliver", 0) == 2
    assert repository.mailbox.latest() == 0


def test_latest_never_goes_back(repository: Repository, ann: Account) -> None:
    (one,) = subscribe(repository, ann, "one")
    assert repository.mailbox.latest() == 0
    deliver(repository, record(0, [one]), record(1, [one]))
    latest = repository.mailbox.latest()
    assert repository.mailbox.acknowledge(ann.number, through=latest) == 2
    assert repository.mailbox.latest() == latest
    deliver(repository, record(2, [one]))
    (got,) = repository.mailbox.read(ann.number, limit=9)
    assert got.cursor == repository.mailbox.latest() == latest + 1


def test_a_cursor_is_on_disk_before_anybody_can_see_it(embedded: Repository) -> None:
    """After a loss of power it would be given again, and readers be past it."""
    database = embedded._database
    assert isinstance(database, SqliteDatabase)
    relaxed: list[Connection] = []
    events.listen(database._relaxed, "begin", relaxed.append)
    ann = embedded.accounts.add("ann", [])
    (one,) = subscribe(embedded, ann, "one")
    deliver(embedded, record(0, [one]))
    assert relaxed == []
    embedded.mailbox.acknowledge(ann.number, through=1)
    assert len(relaxed) > 0


def test_accounts_with_news(repository: Repository, ann: Account, bob: Account) -> None:
    (one,), (two,) = subscribe(repository, ann, "one"), subscribe(repository, bob, "two")
    deliver(repository, record(0, [one, two]))
    between = repository.mailbox.latest()
    deliver(repository, record(1, [two]), record(2, [two]))
    latest = repository.mailbox.latest()
    assert repository.mailbox.accounts_after(0) == {ann.number: 1, bob.number: latest}
    assert repository.mailbox.accounts_after(between) == {bob.number: latest}
    assert repository.mailbox.accounts_after(latest) == {}


def test_depth(repository: Repository, ann: Account, bob: Account) -> None:
    (one,), (two,) = subscribe(repository, ann, "one"), subscribe(repository, bob, "two")
    deliver(repository, record(0, [one, two]), record(1, [two]))
    assert repository.mailbox.depth() == 3
    assert repository.mailbox.depth(bob.number) == 2


def test_what_may_still_be_sent(
    repository: Repository, ann: Account, bob: Account, press: Account
) -> None:
    (one,) = subscribe(repository, ann, "one")
    deliver(repository, *(record(offset, [one]) for offset in range(4)))
    read = repository.mailbox.read(ann.number, limit=9)
    repository.mailbox.withdraw(press, "p1")
    repository.mailbox.acknowledge(ann.number, cursors=[read[2].cursor])
    assert repository.mailbox.mark_delivered(ann.number, read) == [read[0], read[3]]
    assert repository.mailbox.mark_delivered(bob.number, read) == []
    assert repository.mailbox.mark_delivered(ann.number, []) == []
