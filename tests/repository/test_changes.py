from __future__ import annotations

import pyarrow as pa
import pytest
from sqlalchemy import select

from geocast.errors import StateError
from geocast.model import Account
from geocast.repository import SUBSCRIPTIONS, Repository, Wanted
from geocast.repository.tables import snapshot
from tests.repository.world import asking, subscribe


def _ids(table: pa.Table) -> list[int]:
    assert table.schema == SUBSCRIPTIONS
    return [int(text) for text in table["id"].to_pylist()]


def test_nothing_has_changed(repository: Repository) -> None:
    changes = repository.subscriptions.changes(0, 10)
    assert (_ids(changes.table), changes.removed, changes.through, changes.count) == ([], [], 0, 0)


def test_added_versions_are_told_as_they_were_asked_for(
    repository: Repository, ann: Account
) -> None:
    area = repository.subscriptions.add(
        ann.number, "one", Wanted(b"wkb", "within", "a = 1", {"x": 1}, None, (0, 0, 1, 1))
    )
    bare = repository.subscriptions.add(ann.number, "two", asking("b = 2"))
    changes = repository.subscriptions.changes(0, 10)
    assert changes.table.to_pylist() == [
        {"id": str(area.vnumber), "geometry": b"wkb", "predicate": "within", "filter": "a = 1"},
        {"id": str(bare.vnumber), "geometry": None, "predicate": None, "filter": "b = 2"},
    ]
    assert changes.count == 2
    assert repository.subscriptions.changes(changes.through, 10).count == 0


def test_a_predicate_without_a_geometry_is_not_told(repository: Repository, ann: Account) -> None:
    repository.subscriptions.add(
        ann.number, "old", Wanted(None, "intersects", "a = 1", {}, None, None)
    )
    (told,) = repository.subscriptions.changes(0, 10).table.to_pylist()
    assert (told["geometry"], told["predicate"], told["filter"]) == (None, None, "a = 1")


def test_a_replacement_is_one_change(repository: Repository, ann: Account) -> None:
    (old,) = subscribe(repository, ann, "one")
    before = repository.subscriptions.changes(0, 10).through
    new = repository.subscriptions.replace(ann.number, "one", asking())
    assert new is not None
    changes = repository.subscriptions.changes(before, 1)
    assert (_ids(changes.table), changes.removed, changes.count) == ([new.vnumber], [old], 1)


def test_what_is_added_and_removed_within_a_range_is_in_neither_list(
    repository: Repository, ann: Account
) -> None:
    subscribe(repository, ann, "one", "two")
    repository.subscriptions.cancel(ann.number, "one")
    new = repository.subscriptions.replace(ann.number, "two", asking())
    assert new is not None
    changes = repository.subscriptions.changes(0, 10)
    assert (_ids(changes.table), changes.removed, changes.count) == ([new.vnumber], [], 4)


def test_a_limit_cuts_between_changes(repository: Repository, ann: Account) -> None:
    one, two = subscribe(repository, ann, "one", "two")
    repository.subscriptions.cancel(ann.number, "one")
    first = repository.subscriptions.changes(0, 2)
    assert (_ids(first.table), first.removed, first.count) == ([one, two], [], 2)
    second = repository.subscriptions.changes(first.through, 2)
    assert (_ids(second.table), second.removed, second.count) == ([], [one], 1)


def test_standing_at_every_change(repository: Repository, ann: Account) -> None:
    one, two = subscribe(repository, ann, "one", "two")
    repository.subscriptions.cancel(ann.number, "one")
    new = repository.subscriptions.replace(ann.number, "two", asking())
    assert new is not None
    expected = [[], [one], [one, two], [two], [new.vnumber]]
    for through, standing in enumerate(expected):
        tables = list(repository.subscriptions.standing(through))
        assert [number for table in tables for number in _ids(table)] == standing


def test_standing_of_those_asked_for(repository: Repository, ann: Account) -> None:
    one, two, three = subscribe(repository, ann, "one", "two", "three")
    repository.subscriptions.cancel(ann.number, "two")
    asked = [three, two, one, three, 10_000]
    assert [_ids(t) for t in repository.subscriptions.standing(4, asked)] == [[one, three]]
    assert [_ids(t) for t in repository.subscriptions.standing(3, asked)] == [[one, two, three]]
    assert list(repository.subscriptions.standing(4, [])) == []


def test_standing_comes_in_pieces(repository: Repository, ann: Account) -> None:
    numbers = subscribe(repository, ann, *(f"s{number}" for number in range(20_001)))
    through = repository.subscriptions.changes(0, 100_000).through
    for asked in (None, numbers):
        tables = list(repository.subscriptions.standing(through, asked))
        assert [len(table) for table in tables] == [10_000, 10_000, 1]
        assert [number for table in tables for number in _ids(table)] == numbers


def test_activation_is_recorded(repository: Repository, ann: Account) -> None:
    subscribe(repository, ann, "one", "two")
    assert repository.subscriptions.snapshot_at() == (0, 0)
    repository.subscriptions.activate(1, 0, 1, at=500)
    one, two = repository.subscriptions.page(ann.number)
    assert (one.status, one.activated) == ("active", 500)
    assert (two.status, two.activated) == ("pending", None)
    assert repository.subscriptions.snapshot_at() == (1, 1)
    repository.subscriptions.activate(2, 1, 2, at=600)
    assert [s.activated for s in repository.subscriptions.page(ann.number)] == [500, 600]
    assert repository.subscriptions.snapshot_at() == (2, 2)


def test_a_replaced_subscription_is_pending_again(repository: Repository, ann: Account) -> None:
    subscribe(repository, ann, "one")
    repository.subscriptions.activate(1, 0, 1, at=500)
    new = repository.subscriptions.replace(ann.number, "one", asking())
    assert new is not None
    assert (new.status, new.activated) == ("pending", None)


def test_activation_can_be_repeated(repository: Repository, ann: Account) -> None:
    subscribe(repository, ann, "one", "two")
    repository.subscriptions.replace(ann.number, "one", asking())
    repository.subscriptions.cancel(ann.number, "two")
    repository.subscriptions.activate(1, 0, 2, at=500)
    repository.subscriptions.activate(2, 2, 4, at=600)
    facts = [repository.subscriptions.history(ann.number, name) for name in ("one", "two")]
    repository.subscriptions.activate(2, 2, 4, at=700)
    repository.subscriptions.activate(1, 0, 2, at=800)
    repeated = [repository.subscriptions.history(ann.number, name) for name in ("one", "two")]
    assert repeated == facts
    assert repository.subscriptions.snapshot_at() == (2, 4)


def test_a_merged_snapshot_changes_nothing(repository: Repository, ann: Account) -> None:
    subscribe(repository, ann, "one")
    repository.subscriptions.activate(1, 0, 1, at=500)
    repository.subscriptions.activate(2, 1, 1, at=600)
    assert repository.subscriptions.snapshot_at() == (2, 1)
    (fact,) = repository.subscriptions.history(ann.number, "one")
    assert fact.activated_snapshot == 1


def test_only_the_latest_snapshot_is_kept(repository: Repository, ann: Account) -> None:
    subscribe(repository, ann, "one", "two", "three")
    for number in (1, 2, 3, 2):
        repository.subscriptions.activate(number, number - 1, number, at=500)
    assert repository.subscriptions.snapshot_at() == (3, 3)
    with repository._database.read() as connection:
        assert connection.execute(select(snapshot.c.version)).scalars().all() == [3]


def test_changes_expire_when_a_snapshot_has_them(repository: Repository, ann: Account) -> None:
    one, two, three = subscribe(repository, ann, "one", "two", "three")
    assert repository.subscriptions.expire_changes() == 0
    repository.subscriptions.activate(1, 0, 2, at=500)
    assert repository.subscriptions.expire_changes() == 2
    assert repository.subscriptions.expire_changes() == 0
    assert _ids(repository.subscriptions.changes(2, 10).table) == [three]
    assert [_ids(table) for table in repository.subscriptions.standing(2)] == [[one, two]]
    with pytest.raises(StateError, match="changes after 1 are gone, up to 2"):
        repository.subscriptions.changes(1, 10)
    repository.subscriptions.activate(2, 2, 3, at=600)
    assert repository.subscriptions.expire_changes() == 1
    assert repository.subscriptions.changes(3, 10).count == 0
    with pytest.raises(StateError, match="changes after 0 are gone, up to 3"):
        repository.subscriptions.changes(0, 10)
    assert [one.status for one in repository.subscriptions.page(ann.number)] == ["active"] * 3


def test_more_changes_expire_than_a_transaction_takes(repository: Repository, ann: Account) -> None:
    subscribe(repository, ann, *(f"s{number}" for number in range(6_000)))
    repository.subscriptions.activate(1, 0, 5_999, at=500)
    assert repository.subscriptions.expire_changes() == 5_999
    assert repository.subscriptions.changes(5_999, 10).count == 1


def test_a_snapshot_has_one_set_of_changes(repository: Repository, ann: Account) -> None:
    subscribe(repository, ann, "one", "two")
    repository.subscriptions.activate(1, 0, 1, at=500)
    with pytest.raises(StateError, match=r"snapshot 1 .* through 1, now it is 2"):
        repository.subscriptions.activate(1, 0, 2, at=500)
    (_, two) = repository.subscriptions.page(ann.number)
    assert two.status == "pending"


def test_history_tells_when_versions_were_active(repository: Repository, ann: Account) -> None:
    repository.subscriptions.add(ann.number, "one", asking("a = 1"))
    repository.subscriptions.activate(1, 0, 1, at=500)
    repository.subscriptions.replace(ann.number, "one", asking("a = 2"))
    repository.subscriptions.replace(ann.number, "one", asking("a = 3"))
    repository.subscriptions.activate(2, 1, 3, at=600)
    repository.subscriptions.cancel(ann.number, "one")
    repository.subscriptions.activate(3, 3, 4, at=700)
    repository.subscriptions.add(ann.number, "one", asking("a = 4"))
    facts = repository.subscriptions.history(ann.number, "one")
    assert [(f.version, f.wanted.filter, f.added, f.removed) for f in facts] == [
        (1, "a = 1", 1, 2),
        (2, "a = 2", 2, 3),
        (3, "a = 3", 3, 4),
        (4, "a = 4", 5, None),
    ]
    assert [(f.activated_snapshot, f.removed_snapshot) for f in facts] == [
        (1, 2),
        (None, 2),
        (2, 3),
        (None, None),
    ]
    assert [(f.activated_at, f.removed_at) for f in facts] == [
        (500, 600),
        (None, 600),
        (600, 700),
        (None, None),
    ]
