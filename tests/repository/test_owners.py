"""The cache of owners: grows without copying all, and agrees with the tables."""

from __future__ import annotations

import numpy as np
import pytest

from geocast.errors import StateError
from geocast.model import Account
from geocast.repository import Owners, Repository
from geocast.repository.owners import OwnerCache
from tests.repository.world import asking, subscribe


def _rows(owners: Owners) -> list[tuple[int, int, int, int]]:
    columns = (owners.vnumber, owners.account, owners.subscription, owners.endpoint)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def test_it_grows_by_what_is_new(repository: Repository, ann: Account, bob: Account) -> None:
    cache = OwnerCache(repository._database)
    earlier: list[tuple[Owners, list[tuple[int, int, int, int]]]] = []
    for count in (1, 1_022, 1, 1, 3_000, 1):
        account = ann if count % 2 else bob
        names = (f"{len(earlier)}-{number}" for number in range(count))
        newest = subscribe(repository, account, *names)[-1]
        known = cache.reach(newest)
        assert _rows(known) == _rows(repository.subscriptions.owners(0))
        earlier.append((known, _rows(known)))
    assert all(_rows(known) == rows for known, rows in earlier)


def test_new_versions_are_not_paid_for_with_a_copy_of_all(
    repository: Repository, ann: Account
) -> None:
    cache = OwnerCache(repository._database)
    before = cache.reach(subscribe(repository, ann, *(str(n) for n in range(3_000)))[-1])
    one = cache.reach(subscribe(repository, ann, "one")[-1])
    two = cache.reach(subscribe(repository, ann, "two")[-1])
    assert [len(known.vnumber) for known in (before, one, two)] == [3_000, 3_001, 3_002]
    assert np.shares_memory(one.vnumber, two.vnumber)


def test_owners_in_the_order_asked_for(repository: Repository, ann: Account, bob: Account) -> None:
    hook = repository.endpoints.put(bob.number, "https://example.org/", "s").number
    (one,) = subscribe(repository, ann, "one")
    two = repository.subscriptions.add(bob.number, "two", asking(endpoint=hook))
    cache = OwnerCache(repository._database)
    found = cache.of(np.array([two.vnumber, one, two.vnumber]))
    assert found.account.tolist() == [bob.number, ann.number, bob.number]
    assert found.endpoint.tolist() == [hook, -1, hook]
    with pytest.raises(StateError, match="no subscription version 77"):
        cache.of(np.array([one, 77]))
