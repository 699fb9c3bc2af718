"""Subscriptions against a plain model: whatever is done, standing and changes agree with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from geocast.errors import ConflictError
from geocast.repository import Repository
from tests.repository.world import asking

Database = Callable[[], AbstractContextManager[str]]
"""Gives the URL of an empty repository."""

NAMES = st.sampled_from(["a", "b", "c", "d"])
FILTERS = st.integers(0, 99).map(lambda number: f"x = {number}")


class SubscriptionsMachine(RuleBasedStateMachine):
    """The model is the list of changes, and what each version asks for."""

    def __init__(self, database: Database) -> None:
        super().__init__()
        self.stack = ExitStack()
        self.repository = Repository.open(self.stack.enter_context(database()))
        self.account = self.repository.accounts.add("ann", []).number
        self.changes: list[tuple[int | None, int | None]] = []
        self.filters: dict[int, str] = {}
        self.current: dict[str, int] = {}
        self.paused: set[str] = set()
        self.followed: set[int] = set()
        self.place = 0

    def teardown(self) -> None:
        self.repository.close()
        self.stack.close()

    @rule(name=NAMES, text=FILTERS)
    def add(self, name: str, text: str) -> None:
        try:
            added = self.repository.subscriptions.add(self.account, name, asking(text))
        except ConflictError:
            assert name in self.current
            return
        assert name not in self.current
        self._stands(name, added.vnumber, text, None)

    @rule(name=NAMES, text=FILTERS)
    def replace(self, name: str, text: str) -> None:
        new = self.repository.subscriptions.replace(self.account, name, asking(text))
        assert (new is not None) == (name in self.current)
        if new is not None:
            removed = new.vnumber if name in self.paused else self.current[name]
            self._stands(name, new.vnumber, text, removed)

    @rule(name=NAMES)
    def cancel(self, name: str) -> None:
        gone = self.repository.subscriptions.cancel(self.account, name)
        assert (gone is not None) == (name in self.current)
        if gone is not None:
            vnumber = self.current.pop(name)
            if name not in self.paused:
                self.changes.append((None, vnumber))
            self.paused.discard(name)

    @rule(name=NAMES)
    def pause(self, name: str) -> None:
        found = self.repository.subscriptions.pause(self.account, name)
        assert (found is not None) == (name in self.current)
        if found is not None and name not in self.paused:
            self.changes.append((None, self.current[name]))
            self.paused.add(name)

    @rule(name=NAMES)
    def resume(self, name: str) -> None:
        found = self.repository.subscriptions.resume(self.account, name)
        assert (found is not None) == (name in self.current)
        if found is not None and name in self.paused:
            self.paused.remove(name)
            self._stands(name, found.vnumber, self.filters[self.current[name]], None)

    @rule(limit=st.integers(1, 5))
    def follow(self, limit: int) -> None:
        """Keep a set by changes only, as snapshots do."""
        changes = self.repository.subscriptions.changes(self.place, limit)
        removed = set(changes.removed)
        assert removed <= self.followed
        self.followed -= removed
        self.followed |= {int(text) for text in changes.table["id"].to_pylist()}
        assert changes.count == min(limit, len(self.changes) - self.place)
        self.place += changes.count
        assert changes.through == self.place
        assert self.followed == self._standing(self.place)

    @precondition(lambda self: self.changes)
    @rule(data=st.data())
    def look_back(self, data: st.DataObject) -> None:
        through = data.draw(st.integers(0, len(self.changes)))
        asked = data.draw(st.none() | st.lists(st.sampled_from(sorted(self.filters))))
        found: dict[int, str] = {}
        for table in self.repository.subscriptions.standing(through, asked):
            found |= {int(row["id"]): row["filter"] for row in table.to_pylist()}
        expected = self._standing(through) & (set(self.filters) if asked is None else set(asked))
        assert found == {vnumber: self.filters[vnumber] for vnumber in expected}

    @invariant()
    def the_page_shows_what_stands(self) -> None:
        page = self.repository.subscriptions.page(self.account)
        assert {one.id: one.vnumber for one in page} == self.current
        assert {one.id for one in page if one.status == "paused"} == self.paused

    def _stands(self, name: str, vnumber: int, text: str, instead_of: int | None) -> None:
        self.changes.append((vnumber, instead_of))
        self.filters[vnumber] = text
        self.current[name] = vnumber

    def _standing(self, through: int) -> set[int]:
        standing: set[int] = set()
        for added, removed in self.changes[:through]:
            standing |= {added} if added is not None else set()
            standing.discard(removed or 0)
        return standing


@contextmanager
def _file() -> Iterator[str]:
    with TemporaryDirectory() as folder:
        yield f"sqlite:///{Path(folder) / 'r.sqlite'}"


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_subscriptions(kind: str, request: pytest.FixtureRequest) -> None:
    database = _file if kind == "sqlite" else request.getfixturevalue("postgres").repository

    class Machine(SubscriptionsMachine):
        def __init__(self) -> None:
            super().__init__(database)

    run_state_machine_as_test(
        Machine,
        settings=settings(max_examples=15, stateful_step_count=30, deadline=None),
    )
