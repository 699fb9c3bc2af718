from __future__ import annotations

import pytest
from sqlalchemy import func, select

from geocast.model import Account, now
from geocast.repository import Repository, forget
from geocast.repository.tables import delivered, metadata, subscription, version, wanted
from tests.repository.world import asking, deliver, kinds, record, subscribe


def _counts(repository: Repository) -> dict[str, int]:
    tables = (subscription, version, wanted, delivered)
    with repository._database.read() as connection:
        return {
            table.name: connection.execute(select(func.count()).select_from(table)).scalar_one()
            for table in tables
        }


def _forget(repository: Repository, before: int | None = None) -> int:
    pinned = repository.subscriptions.pinned_snapshot()
    return repository.subscriptions.forget_removed(now() if before is None else before, pinned)


def _activate(repository: Repository, snapshot: int) -> None:
    """Let a snapshot have all changes so far."""
    _, after = repository.subscriptions.snapshot_at()
    through = repository.subscriptions.changes(after, 1_000).through
    repository.subscriptions.activate(snapshot, after, through, now())


def _change_and_cancel(repository: Repository, account: Account) -> list[int]:
    """`one` is changed twice and stands, `two` is cancelled, `three` stands as it was."""
    versions = subscribe(repository, account, "one", "two", "three")
    _activate(repository, 1)
    for text in ("b = 2", "c = 3"):
        changed = repository.subscriptions.replace(account.number, "one", asking(text))
        assert changed is not None
        versions.append(changed.vnumber)
    repository.subscriptions.cancel(account.number, "two")
    return versions


def test_what_is_out_of_force_is_forgotten(repository: Repository, ann: Account) -> None:
    _change_and_cancel(repository, ann)
    assert _forget(repository) == 0, "no snapshot has the removals"
    _activate(repository, 2)
    assert _forget(repository, 0) == 0
    assert _forget(repository) == 3
    assert _counts(repository) == {"subscription": 2, "version": 2, "wanted": 2, "delivered": 0}
    one = repository.subscriptions.get(ann.number, "one")
    assert one is not None
    assert (one.version, one.wanted.filter) == (3, "c = 3")
    assert [fact.version for fact in repository.subscriptions.history(ann.number, "one")] == [3]
    assert _forget(repository) == 0


def test_what_mail_refers_to_stays(repository: Repository, ann: Account, press: Account) -> None:
    first, two, *_ = _change_and_cancel(repository, ann)
    _activate(repository, 2)
    deliver(repository, record(0, [first, two]), record(1, [first]))
    assert _forget(repository) == 1, "only the one between"
    mail = repository.mailbox.read(ann.number, limit=10)
    assert [(one.subscription, one.version) for one in mail] == [("one", 1), ("two", 1), ("one", 1)]
    repository.mailbox.mark_delivered(ann.number, mail)
    repository.mailbox.acknowledge(ann.number, through=mail[-1].cursor)
    assert _forget(repository) == 0, "a withdrawal needs to tell them"
    repository.mailbox.withdraw(press, "p0")
    told = kinds(repository.mailbox.read(ann.number, limit=10))
    assert sorted(one[:2] for one in told) == [("one", "p0"), ("two", "p0")]
    repository.mailbox.expire(now() + 1)
    assert _forget(repository) == 2
    assert _counts(repository) == {"subscription": 2, "version": 2, "wanted": 2, "delivered": 1}


def test_a_pinned_batch_keeps_what_it_may_match(repository: Repository, ann: Account) -> None:
    _change_and_cancel(repository, ann)
    repository.ledger.pin("match", 0, 1)
    _activate(repository, 2)
    assert _forget(repository) == 0
    repository.ledger.finish("match", 0, {}, {})
    assert _forget(repository) == 3


def test_a_batch_keeps_only_what_its_snapshot_has(repository: Repository, ann: Account) -> None:
    _change_and_cancel(repository, ann)
    _activate(repository, 2)
    repository.ledger.pin("match", 0, 2)
    repository.subscriptions.cancel(ann.number, "three")
    _activate(repository, 3)
    assert _forget(repository) == 3
    repository.ledger.finish("match", 0, {}, {})
    assert _forget(repository) == 1


def test_a_newest_version_goes_with_the_last_of_the_others(
    repository: Repository, ann: Account
) -> None:
    """Else its id could be used neither as the old subscription nor as a new one."""
    (first,) = subscribe(repository, ann, "one")
    _activate(repository, 1)
    repository.subscriptions.replace(ann.number, "one", asking("b = 2"))
    repository.subscriptions.cancel(ann.number, "one")
    _activate(repository, 2)
    deliver(repository, record(0, [first]))
    assert _forget(repository) == 0
    again = repository.subscriptions.add(ann.number, "one", asking("c = 3"))
    assert again.version == 3
    _activate(repository, 3)
    assert _forget(repository) == 1, "the one between; another one is the newest now"
    repository.mailbox.expire(now() + 1)
    assert _forget(repository) == 1
    assert _counts(repository) == {"subscription": 1, "version": 1, "wanted": 1, "delivered": 0}


def test_many_are_forgotten_in_pieces(
    repository: Repository, ann: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forget, "_PIECE", 2)
    monkeypatch.setattr(forget, "_SPAN", 3)
    monkeypatch.setattr(forget, "_MOST", 15)
    ids = [f"s{number}" for number in range(20)]
    versions = subscribe(repository, ann, *ids)
    for one in ids:
        repository.subscriptions.cancel(ann.number, one)
    _activate(repository, 1)
    deliver(repository, *(record(k, [versions[k], versions[k + 1]]) for k in range(0, 10, 2)))
    assert _forget(repository) == 5, "ten of the first fifteen have mail"
    repository.mailbox.expire(now() + 1)
    assert _forget(repository) == 15
    assert _counts(repository) == dict.fromkeys(("subscription", "version", "wanted"), 0) | {
        "delivered": 0
    }


def test_an_id_that_was_forgotten_begins_anew(repository: Repository, ann: Account) -> None:
    before = dict(zip(("one", "two"), subscribe(repository, ann, "one", "two"), strict=True))
    old = repository.subscriptions.get(ann.number, "two")
    repository.subscriptions.cancel(ann.number, "two")
    _activate(repository, 1)
    assert _forget(repository) == 1
    again = repository.subscriptions.add(ann.number, "two", asking())
    assert old is not None
    assert again.number > old.number
    assert (again.version, again.vnumber > before["two"]) == (1, True)
    deliver(repository, record(0, [again.vnumber]))
    assert [one.subscription for one in repository.mailbox.read(ann.number, limit=5)] == ["two"]


def test_nothing_else_refers_to_a_forgotten_subscription() -> None:
    """Whoever adds a table has to think of forgetting, and whether it names subscriptions."""
    naming = {"change", "delivered", "event", "mailbox", "pause", "subscription", "version"}
    naming |= {"wanted"}
    others = {"account", "batch", "body", "counter", "dead_letter", "endpoint", "fact", "position"}
    others |= {"bundle", "link", "member", "share", "snapshot", "token", "withdrawal"}
    assert {table.name for table in metadata.sorted_tables} == naming | others
