from __future__ import annotations

import pytest

from geocast.errors import StateError
from geocast.model import now
from geocast.repository import Repository


def test_a_pin_stays(repository: Repository) -> None:
    assert repository.ledger.pin("q", 0, 5) == 5
    assert repository.ledger.pin("q", 0, 6) == 5
    assert repository.ledger.pin("q", 1, 6) == 6
    assert repository.ledger.pin("other", 0, 9) == 9
    assert [one.snapshot for one in repository.ledger.entries("q")] == [5, 6]


def test_entries_tell_what_happened(repository: Repository) -> None:
    before = now()
    repository.ledger.pin("q", 0, 5)
    repository.ledger.finish("q", 0, {0: (0, 10), 1: (4, 4)}, {"matches": 3})
    repository.ledger.pin("q", 1, 6)
    first, second = repository.ledger.entries("q")
    assert before <= first.pinned_at <= (first.finished_at or 0) <= now()
    assert first.ranges == {0: (0, 10), 1: (4, 4)}
    assert first.counts == {"matches": 3}
    assert (second.finished_at, second.ranges, second.counts) == (None, {}, {})


def test_what_was_finished_first_stays(repository: Repository) -> None:
    repository.ledger.pin("q", 0, 5)
    repository.ledger.finish("q", 0, {0: (0, 10)}, {"matches": 3})
    (first,) = repository.ledger.entries("q")
    repository.ledger.pin("q", 0, 7)
    repository.ledger.finish("q", 0, {0: (0, 10)}, {"matches": 0})
    assert repository.ledger.entries("q") == [first]


def test_a_batch_that_was_not_pinned_cannot_be_finished(repository: Repository) -> None:
    with pytest.raises(StateError, match="batch 3 of query 'q'"):
        repository.ledger.finish("q", 3, {}, {})


def test_pages_of_entries(repository: Repository) -> None:
    for batch in range(5):
        repository.ledger.pin("q", batch, 1)
    assert [one.batch for one in repository.ledger.entries("q", limit=2)] == [0, 1]
    assert [one.batch for one in repository.ledger.entries("q", 2)] == [3, 4]
    assert [one.batch for one in repository.ledger.entries("q", limit=2, newest=True)] == [4, 3]


def test_needed_snapshots(repository: Repository) -> None:
    assert repository.ledger.needed("q") == set()
    for batch, snapshot in enumerate([1, 2, 3, 3, 4, 5]):
        repository.ledger.pin("q", batch, snapshot)
    for batch in (0, 2, 3, 4):
        repository.ledger.finish("q", batch, {}, {})
    assert repository.ledger.needed("q") == {2, 3, 4, 5}
    assert repository.ledger.needed("other") == set()


def test_expiry_keeps_the_last_and_the_unfinished(repository: Repository) -> None:
    for batch in range(6):
        repository.ledger.pin("q", batch, batch)
        repository.ledger.pin("other", batch, batch)
    for batch in (0, 2, 3, 4):
        repository.ledger.finish("q", batch, {}, {})
    assert repository.ledger.expire("q", keep_last=2) == 2
    assert [one.batch for one in repository.ledger.entries("q")] == [1, 3, 4, 5]
    assert len(repository.ledger.entries("other")) == 6
