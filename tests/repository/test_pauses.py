"""A paused subscription matches nothing, and keeps everything else."""

from __future__ import annotations

from geocast.model import Account, now
from geocast.repository import Repository, Subscription, Wanted
from tests.repository.world import asking, deliver, record, subscribe

AREA = Wanted(b"\x01wkb", "within", "a > 3", {"name": "Köln"}, None, (6.5, 50.5, 7.5, 51.0))


def snapshot(repository: Repository, number: int) -> tuple[list[str], list[int]]:
    """Let a snapshot have all changes so far; return what they add and remove."""
    _, after = repository.subscriptions.snapshot_at()
    changes = repository.subscriptions.changes(after, 1_000)
    repository.subscriptions.activate(number, after, changes.through, now())
    return changes.table["filter"].to_pylist(), changes.removed


def get(repository: Repository, account: Account, name: str = "one") -> Subscription:
    found = repository.subscriptions.get(account.number, name)
    assert found is not None
    return found


def test_paused_and_resumed(repository: Repository, ann: Account) -> None:
    first = repository.subscriptions.add(ann.number, "one", AREA)
    snapshot(repository, 1)
    paused = repository.subscriptions.pause(ann.number, "one")
    assert paused == get(repository, ann)
    assert (paused.status, paused.version, paused.wanted) == ("paused", 1, AREA)
    assert snapshot(repository, 2) == ([], [first.vnumber])
    resumed = repository.subscriptions.resume(ann.number, "one")
    assert resumed == get(repository, ann)
    assert (resumed.status, resumed.version, resumed.wanted) == ("pending", 2, AREA)
    assert resumed.number == first.number
    assert snapshot(repository, 3) == (["a > 3"], [])
    assert get(repository, ann).status == "active"


def test_when_each_version_was_in_force(repository: Repository, ann: Account) -> None:
    subscribe(repository, ann, "one")
    snapshot(repository, 1)
    repository.subscriptions.pause(ann.number, "one")
    snapshot(repository, 2)
    repository.subscriptions.resume(ann.number, "one")
    snapshot(repository, 3)
    facts = repository.subscriptions.history(ann.number, "one")
    spans = [(fact.version, fact.activated_snapshot, fact.removed_snapshot) for fact in facts]
    assert spans == [(1, 1, 2), (2, 3, None)]


def test_pausing_and_resuming_can_be_repeated(repository: Repository, ann: Account) -> None:
    subscribe(repository, ann, "one")
    once = repository.subscriptions.pause(ann.number, "one")
    assert repository.subscriptions.pause(ann.number, "one") == once
    again = repository.subscriptions.resume(ann.number, "one")
    assert repository.subscriptions.resume(ann.number, "one") == again
    assert repository.subscriptions.changes(0, 100).count == 3


def test_what_does_not_stand_cannot_be_paused(
    repository: Repository, ann: Account, bob: Account
) -> None:
    subscribe(repository, ann, "one", "two")
    repository.subscriptions.cancel(ann.number, "two")
    for account, name in ((ann, "two"), (ann, "three"), (bob, "one")):
        assert repository.subscriptions.pause(account.number, name) is None
        assert repository.subscriptions.resume(account.number, name) is None


def test_a_change_while_it_is_paused_is_never_in_force(
    repository: Repository, ann: Account
) -> None:
    subscribe(repository, ann, "one")
    snapshot(repository, 1)
    repository.subscriptions.pause(ann.number, "one")
    snapshot(repository, 2)
    changed = repository.subscriptions.replace(ann.number, "one", asking("b = 2"))
    assert changed is not None
    assert (changed.status, changed.version) == ("paused", 2)
    assert snapshot(repository, 3) == ([], [])
    _, through = repository.subscriptions.snapshot_at()
    assert list(repository.subscriptions.standing(through)) == []
    repository.subscriptions.resume(ann.number, "one")
    assert snapshot(repository, 4) == (["b = 2"], [])
    facts = repository.subscriptions.history(ann.number, "one")
    spans = [(fact.version, fact.activated_snapshot, fact.removed_snapshot) for fact in facts]
    assert spans == [(1, 1, 2), (2, None, 3), (3, 4, None)]


def test_a_paused_one_is_cancelled_without_another_change(
    repository: Repository, ann: Account
) -> None:
    [vnumber] = subscribe(repository, ann, "one")
    snapshot(repository, 1)
    repository.subscriptions.pause(ann.number, "one")
    cancelled = repository.subscriptions.cancel(ann.number, "one")
    assert cancelled is not None
    assert cancelled.status == "cancelled"
    assert snapshot(repository, 2) == ([], [vnumber])
    again = repository.subscriptions.add(ann.number, "one", asking())
    assert (again.status, again.version) == ("pending", 2)


def test_an_account_is_removed_with_what_is_paused(repository: Repository, ann: Account) -> None:
    one, two = subscribe(repository, ann, "one", "two")
    repository.subscriptions.pause(ann.number, "one")
    repository.accounts.remove("ann")
    assert repository.subscriptions.count() == 0
    changes = repository.subscriptions.changes(0, 100)
    assert (changes.count, changes.removed) == (4, [])
    assert {one, two} == set(repository.subscriptions.owners(0).vnumber.tolist())


def test_what_is_paused_is_not_forgotten(repository: Repository, ann: Account) -> None:
    subscribe(repository, ann, "one")
    snapshot(repository, 1)
    repository.subscriptions.pause(ann.number, "one")
    snapshot(repository, 2)
    assert repository.subscriptions.forget_removed(now(), None) == 0
    assert get(repository, ann).wanted.filter == "one"
    repository.subscriptions.replace(ann.number, "one", asking("b = 2"))
    snapshot(repository, 3)
    assert repository.subscriptions.forget_removed(now(), None) == 1
    repository.subscriptions.cancel(ann.number, "one")
    assert repository.subscriptions.forget_removed(now(), None) == 1
    assert repository.subscriptions.history(ann.number, "one") == []


def test_the_mailbox_stays(repository: Repository, ann: Account, press: Account) -> None:
    versions = subscribe(repository, ann, "one", "two")
    deliver(repository, record(0, versions), record(1, versions[:1]))
    repository.subscriptions.pause(ann.number, "one")
    assert repository.mailbox.waiting(ann.number) == {"one": 2, "two": 1}
    repository.mailbox.acknowledge(ann.number, subscription="one")
    assert repository.mailbox.waiting(ann.number) == {"two": 1}
