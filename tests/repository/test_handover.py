"""Handing over in bulk: what a topic gets is what a mailbox gets, an event at a time."""

from __future__ import annotations

import random

import pytest

from geocast.model import Account, Bundle, Kind, match_id, now
from geocast.repository import Repository
from tests.repository.world import asking, deliver, kinds, record

EVERYTHING = 10_000


def filled(repository: Repository, account: Account) -> tuple[int, list[int]]:
    """A topic with two subscriptions, and one of the account's without it."""
    topic = repository.endpoints.put(account.number, "kafka:t", "s").number
    wanted = [("one", asking("a", endpoint=topic)), ("two", asking("b", endpoint=topic))]
    added = repository.subscriptions.add_many(account.number, [*wanted, ("apart", asking("c"))])
    return topic, [one.vnumber for one in added]


def told(bundles: list[Bundle]) -> list[tuple[str, str, Kind]]:
    return [(m.subscription, one.publication, one.kind) for one in bundles for m in one.matches]


def test_a_bundle_tells_everything(repository: Repository, ann: Account) -> None:
    topic, (one, two, apart) = filled(repository, ann)
    before = now()
    assert deliver(repository, record(0, [apart]), record(1, [one, two, apart])) == 4
    changed = repository.subscriptions.replace(ann.number, "two", asking("d", endpoint=topic))
    assert changed is not None
    deliver(repository, record(2, [apart, changed.vnumber]))
    first, second = repository.mailbox.hand_over(topic, limit=EVERYTHING)
    assert (first.kind, first.publisher, first.publication) == (Kind.MATCH, "press", "p1")
    assert (first.published, first.feature) == (1_001, b'{"n":1}')
    assert before <= first.notified <= now()
    numbers = {one.id: one.number for one in repository.subscriptions.page(ann.number)}
    assert first.matches == [
        (match_id(repository.deployment, 0, 1, numbers[name], 1), name, 1)
        for name in ("one", "two")
    ]
    assert [(m.subscription, m.version) for m in second.matches] == [("two", 2)]
    assert first.cursor < second.cursor <= repository.mailbox.latest()
    assert repository.mailbox.hand_over(topic, limit=1) == [first]
    assert repository.mailbox.hand_over(topic + 1, limit=3) == []
    apart_only = repository.mailbox.read(ann.number, limit=9)
    assert {row.subscription for row in apart_only} == {"apart"}
    cursors = {row.cursor for row in apart_only}
    assert len(cursors) == 3
    assert not cursors & {first.cursor, second.cursor}


def test_it_counts_as_waiting(repository: Repository, ann: Account, bob: Account) -> None:
    topic, (one, two, apart) = filled(repository, ann)
    assert repository.endpoints.active_with_mail() == []
    deliver(repository, record(0, [one, two, apart]), record(1, [two]))
    assert (repository.mailbox.depth(), repository.mailbox.depth(ann.number)) == (4, 4)
    assert repository.mailbox.depth(bob.number) == 0
    (endpoint,) = repository.endpoints.active_with_mail()
    assert (endpoint.number, endpoint.topic) == (topic, "t")


def test_bytes_bound_it(repository: Repository, ann: Account) -> None:
    topic, (one, two, _) = filled(repository, ann)
    deliver(repository, *(record(i, [one, two]) for i in range(5)))
    size = len(record(0, []).feature) + 2 * 8
    for most, count in ((1, 1), (size, 1), (3 * size, 3), (100 * size, 5)):
        found = repository.mailbox.hand_over(topic, limit=100, max_bytes=most)
        assert len(found) == count


def test_what_was_handed_over_counts_as_seen(
    repository: Repository, ann: Account, press: Account
) -> None:
    topic, (one, two, apart) = filled(repository, ann)
    deliver(repository, record(0, [one, two]), record(1, [two]), record(2, [one, apart]))
    assert len(repository.mailbox.hand_over(topic, limit=1)) == 1
    assert repository.mailbox.withdraw(press, "p0").notices == 2
    assert repository.mailbox.withdraw(press, "p2").notices == 0
    rest = repository.mailbox.hand_over(topic, limit=10)
    assert told(rest) == [
        ("two", "p1", Kind.MATCH),
        ("one", "p0", Kind.WITHDRAWAL),
        ("two", "p0", Kind.WITHDRAWAL),
    ]
    assert rest[1].feature == b""
    assert repository.mailbox.withdraw(press, "p0").notices == 0


def test_what_was_taken_out_counts_as_seen(
    repository: Repository, ann: Account, press: Account
) -> None:
    topic, (one, _, _) = filled(repository, ann)
    deliver(repository, record(0, [one]))
    (first,) = repository.mailbox.hand_over(topic, limit=9)
    repository.mailbox.take_out(topic, first.cursor, first.cursor)
    assert repository.endpoints.active_with_mail() == []
    repository.mailbox.withdraw(press, "p0")
    (notice,) = repository.mailbox.hand_over(topic, limit=9)
    assert notice.kind is Kind.WITHDRAWAL
    assert notice.matches == first.matches
    assert notice.cursor > first.cursor


def test_taken_out_is_what_was_handed_over(repository: Repository, ann: Account) -> None:
    topic, (one, two, apart) = filled(repository, ann)
    deliver(repository, *(record(i, [one, two, apart]) for i in range(4)))
    first = repository.mailbox.hand_over(topic, limit=7)
    assert repository.mailbox.take_out(topic, first[0].cursor, first[-1].cursor) == 3
    assert repository.mailbox.take_out(topic, first[0].cursor, first[-1].cursor) == 0
    rest = repository.mailbox.hand_over(topic, limit=10)
    assert told(rest) == [("one", "p3", Kind.MATCH), ("two", "p3", Kind.MATCH)]
    left = repository.mailbox.read(ann.number, limit=100)
    assert [row.feature for row in left] == [b'{"n":%d}' % i for i in range(4)]
    repository.mailbox.acknowledge(ann.number, through=repository.mailbox.latest())
    assert repository.mailbox.hand_over(topic, limit=10) == rest
    repository.mailbox.take_out(topic, rest[0].cursor, rest[-1].cursor)
    assert repository.mailbox.depth() == 0


def test_features_stay_as_long_as_somebody_waits(repository: Repository, ann: Account) -> None:
    topic, (one, _, apart) = filled(repository, ann)
    deliver(repository, record(0, [one, apart]))
    repository.mailbox.acknowledge(ann.number, through=repository.mailbox.latest())
    (bundle,) = repository.mailbox.hand_over(topic, limit=9)
    assert bundle.feature == b'{"n":0}'


def test_what_is_old_expires(repository: Repository, ann: Account) -> None:
    topic, (one, two, _) = filled(repository, ann)
    deliver(repository, record(0, [one, two]))
    repository.mailbox.expire(before=1)
    assert len(repository.mailbox.hand_over(topic, limit=9)) == 1
    assert repository.mailbox.knows("press", "p0")
    repository.mailbox.expire(before=now() + 1)
    assert repository.mailbox.hand_over(topic, limit=9) == []
    assert not repository.mailbox.knows("press", "p0")


def test_matches_bound_it(repository: Repository, ann: Account) -> None:
    topic, (one, two, _) = filled(repository, ann)
    deliver(repository, *(record(i, [one, two]) for i in range(5)))
    for most, count in ((1, 1), (2, 1), (3, 1), (4, 2), (9, 4), (10, 5)):
        assert len(repository.mailbox.hand_over(topic, limit=most)) == count


def test_what_was_matched_is_told_although_it_was_cancelled(
    repository: Repository, ann: Account
) -> None:
    topic, (one, two, _) = filled(repository, ann)
    deliver(repository, record(0, [one, two]))
    repository.subscriptions.cancel(ann.number, "one")
    found = repository.mailbox.hand_over(topic, limit=9)
    assert told(found) == [("one", "p0", Kind.MATCH), ("two", "p0", Kind.MATCH)]


def test_an_account_that_goes_takes_its_bundles_along(
    repository: Repository, ann: Account, bob: Account
) -> None:
    topic, (one, _, _) = filled(repository, ann)
    _, (other, _, _) = filled(repository, bob)
    deliver(repository, record(0, [one, other]))
    repository.accounts.remove("ann")
    assert repository.mailbox.hand_over(topic, limit=9) == []
    assert repository.mailbox.depth() == 1


@pytest.mark.parametrize("seed", range(6))
def test_a_topic_gets_what_a_mailbox_gets(
    repository: Repository, ann: Account, bob: Account, press: Account, seed: int
) -> None:
    """Ann has two topics, Bob reads the same subscriptions from his mailbox, in the same steps."""
    chance = random.Random(seed)
    topics = [repository.endpoints.put(ann.number, f"kafka:{n}", "s").number for n in "ab"]
    names = [(f"{n}{k}", topics[n == "b"]) for n in "ab" for k in range(3)]
    mine, theirs = (
        [one.vnumber for one in repository.subscriptions.add_many(who.number, wanted)]
        for who, wanted in (
            (ann, [(name, asking(endpoint=topic)) for name, topic in names]),
            (bob, [(name, asking()) for name, _ in names]),
        )
    )
    heard: dict[str, list[tuple[str, str, Kind]]] = {"topic": [], "mailbox": []}
    published = 0
    for _ in range(25):
        step = chance.choice(["publish", "publish", "withdraw", "read"])
        if step == "publish":
            chosen = [at for at in range(len(names)) if chance.random() < 0.5]
            versions = sorted([mine[at] for at in chosen] + [theirs[at] for at in chosen])
            deliver(repository, record(published, versions))
            published += 1
        elif step == "withdraw" and published:
            repository.mailbox.withdraw(press, f"p{chance.randrange(published)}")
        else:
            _read_all(repository, topics, bob, heard)
    _read_all(repository, topics, bob, heard)
    assert heard["mailbox"]
    for letter in "ab":
        of_topic, of_mailbox = (
            [one for one in heard[way] if one[0].startswith(letter)] for way in heard
        )
        assert of_topic == of_mailbox
    assert repository.mailbox.depth() == 0


def _read_all(
    repository: Repository,
    topics: list[int],
    bob: Account,
    heard: dict[str, list[tuple[str, str, Kind]]],
) -> None:
    for topic in topics:
        while bundles := repository.mailbox.hand_over(topic, limit=2):
            heard["topic"] += told(bundles)
            repository.mailbox.take_out(topic, bundles[0].cursor, bundles[-1].cursor)
    rows = repository.mailbox.read(bob.number, limit=EVERYTHING)
    heard["mailbox"] += kinds(repository.mailbox.mark_delivered(bob.number, rows))
    repository.mailbox.acknowledge(bob.number, through=repository.mailbox.latest())
