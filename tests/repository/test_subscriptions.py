from __future__ import annotations

import pytest

from geocast.errors import ConflictError
from geocast.model import Account
from geocast.repository import Bounds, Repository, Wanted
from tests.repository.world import asking, subscribe

AREA = Wanted(
    b"\x01wkb",
    "within",
    "magnitude > 3",
    {"name": "Köln", "big": 2**70, "odd": "\x00\ud800", "nested": {"a": [1, None]}},
    None,
    (6.5, 50.5, 7.5, 51.0),
)


def test_a_subscription_is_what_was_added(repository: Repository, ann: Account) -> None:
    added = repository.subscriptions.add(ann.number, "one", AREA)
    assert (added.id, added.account, added.version) == ("one", ann.number, 1)
    assert (added.status, added.activated, added.wanted) == ("pending", None, AREA)
    assert added.created == added.changed
    assert repository.subscriptions.get(ann.number, "one") == added


def test_an_id_is_made_where_none_is_given(repository: Repository, ann: Account) -> None:
    first, second = repository.subscriptions.add_many(
        ann.number, [(None, asking()), (None, asking())]
    )
    assert first.id != second.id
    assert repository.subscriptions.get(ann.number, second.id) == second


def test_an_id_stands_once_in_an_account(
    repository: Repository, ann: Account, bob: Account
) -> None:
    repository.subscriptions.add(ann.number, "one", asking())
    repository.subscriptions.add(bob.number, "one", asking())
    with pytest.raises(ConflictError, match="'one'"):
        repository.subscriptions.add(ann.number, "one", asking())


def test_many_or_none(repository: Repository, ann: Account) -> None:
    repository.subscriptions.add(ann.number, "three", asking())
    entries = [(name, asking()) for name in ("one", "two", "three")]
    with pytest.raises(ConflictError, match="'three'"):
        repository.subscriptions.add_many(ann.number, entries)
    with pytest.raises(ConflictError, match="'four' is given twice"):
        repository.subscriptions.add_many(ann.number, [("four", asking())] * 2)
    assert repository.subscriptions.count() == 1
    assert repository.subscriptions.add_many(ann.number, []) == []


def test_many_come_back_in_their_order(repository: Repository, ann: Account) -> None:
    names = [f"s{number * 7919 % 12_000}" for number in range(12_000)]
    added = repository.subscriptions.add_many(ann.number, [(one, asking(one)) for one in names])
    assert [one.id for one in added] == names
    numbers = [one.vnumber for one in added]
    assert numbers == sorted(set(numbers))
    assert repository.subscriptions.get(ann.number, names[7_000]) == added[7_000]


def test_a_replacement_is_a_new_version(repository: Repository, ann: Account) -> None:
    first = repository.subscriptions.add(ann.number, "one", asking("a = 1"))
    second = repository.subscriptions.replace(ann.number, "one", AREA)
    assert second is not None
    assert (second.number, second.version, second.wanted) == (first.number, 2, AREA)
    assert second.vnumber > first.vnumber
    assert second.changed > second.created == first.created
    assert repository.subscriptions.get(ann.number, "one") == second


def test_a_cancelled_subscription_is_gone(repository: Repository, ann: Account) -> None:
    repository.subscriptions.add(ann.number, "one", asking())
    cancelled = repository.subscriptions.cancel(ann.number, "one")
    assert cancelled is not None
    assert cancelled.status == "cancelled"
    assert repository.subscriptions.get(ann.number, "one") is None
    assert repository.subscriptions.page(ann.number) == []
    assert repository.subscriptions.count() == 0
    assert repository.subscriptions.cancel(ann.number, "one") is None
    assert repository.subscriptions.replace(ann.number, "one", asking()) is None


def test_nobody_touches_the_subscriptions_of_others(
    repository: Repository, ann: Account, bob: Account
) -> None:
    added = repository.subscriptions.add(ann.number, "one", asking())
    assert repository.subscriptions.get(bob.number, "one") is None
    assert repository.subscriptions.replace(bob.number, "one", asking()) is None
    assert repository.subscriptions.cancel(bob.number, "one") is None
    assert repository.subscriptions.page(bob.number) == []
    assert repository.subscriptions.history(bob.number, "one") == []
    assert repository.subscriptions.get(ann.number, "one") == added


def test_a_cancelled_id_can_stand_again(repository: Repository, ann: Account) -> None:
    first = repository.subscriptions.add(ann.number, "one", asking("a = 1"))
    repository.subscriptions.cancel(ann.number, "one")
    again, new = repository.subscriptions.add_many(
        ann.number, [("one", asking("a = 2")), ("two", asking())]
    )
    assert (again.number, again.version, again.status) == (first.number, 2, "pending")
    assert new.version == 1
    assert again.created > first.created
    assert repository.subscriptions.get(ann.number, "one") == again
    assert repository.subscriptions.page(ann.number) == [again, new]


def test_pages_go_by_number(repository: Repository, ann: Account, bob: Account) -> None:
    subscribe(repository, ann, "one", "two")
    subscribe(repository, bob, "other")
    subscribe(repository, ann, "three")
    first = repository.subscriptions.page(ann.number, limit=2)
    assert [one.id for one in first] == ["one", "two"]
    rest = repository.subscriptions.page(ann.number, after=first[-1].number, limit=2)
    assert [one.id for one in rest] == ["three"]


@pytest.mark.parametrize(
    ("box", "found"),
    [
        ((0, 0, 1, 1), ["touching"]),
        ((6, 50, 7, 52), ["area"]),
        ((7.5, 51, 8, 52), ["area"]),
        ((7.6, 50, 8, 52), []),
        ((-180, -90, 180, 90), ["area", "touching", "fiji"]),
        ((170, -30, -170, 0), ["fiji"]),
        ((179.5, -30, -179.5, 0), ["fiji"]),
    ],
)
def test_pages_of_a_box(
    repository: Repository, ann: Account, box: Bounds, found: list[str]
) -> None:
    bounds = {"area": AREA.bounds, "touching": (-1, -1, 0, 0), "fiji": (177, -19, 180, -16)}
    entries = [(one, Wanted(b"g", "within", None, {}, None, it)) for one, it in bounds.items()]
    repository.subscriptions.add_many(ann.number, [*entries, ("nowhere", asking())])
    assert [one.id for one in repository.subscriptions.page(ann.number, bbox=box)] == found


def test_pages_of_a_box_follow_the_newest_version(repository: Repository, ann: Account) -> None:
    repository.subscriptions.add(ann.number, "one", AREA)
    repository.subscriptions.replace(ann.number, "one", asking())
    assert repository.subscriptions.page(ann.number, bbox=(-180, -90, 180, 90)) == []


def test_counts(repository: Repository, ann: Account, bob: Account) -> None:
    subscribe(repository, ann, "one", "two")
    subscribe(repository, bob, "one")
    assert repository.subscriptions.count() == 3
    assert repository.subscriptions.count(ann.number) == 2


def test_owners_of_versions(repository: Repository, ann: Account, bob: Account) -> None:
    hook = repository.endpoints.put(bob.number, "https://example.org/", "s").number
    one = repository.subscriptions.add(ann.number, "one", asking())
    two = repository.subscriptions.add(bob.number, "two", asking(endpoint=hook))
    new = repository.subscriptions.replace(bob.number, "two", asking())
    assert new is not None
    owners = repository.subscriptions.owners(0)
    assert owners.vnumber.tolist() == [one.vnumber, two.vnumber, new.vnumber]
    assert owners.account.tolist() == [ann.number, bob.number, bob.number]
    assert owners.subscription.tolist() == [one.number, two.number, two.number]
    assert owners.endpoint.tolist() == [-1, hook, -1]
    assert repository.subscriptions.owners(two.vnumber).vnumber.tolist() == [new.vnumber]
    assert repository.subscriptions.owners(new.vnumber).vnumber.tolist() == []
