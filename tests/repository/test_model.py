"""Subscriptions against a plain model: whatever is done, standing and changes agree with it."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from geocast.errors import ConflictError
from geocast.repository import Repository
from tests.repository.world import asking

NAMES = st.sampled_from(["a", "b", "c", "d"])
FILTERS = st.integers(0, 99).map(lambda number: f"x = {number}")


class SubscriptionsMachine(RuleBasedStateMachine):
    """The model is the list of changes, and what each version asks for."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory()
        self.repository = Repository.open(f"sqlite:///{Path(self.folder.name) / 'r.sqlite'}")
        self.account = self.repository.accounts.add("ann", []).number
        self.changes: list[tuple[int | None, int | None]] = []
        self.filters: dict[int, str] = {}
        self.current: dict[str, int] = {}
        self.followed: set[int] = set()
        self.place = 0

    def teardown(self) -> None:
        self.repository.close()
        self.folder.cleanup()

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
            self._stands(name, new.vnumber, text, self.current[name])

    @rule(name=NAMES)
    def cancel(self, name: str) -> None:
        gone = self.repository.subscriptions.cancel(self.account, name)
        assert (gone is not None) == (name in self.current)
        if gone is not None:
            self.changes.append((None, self.current.pop(name)))

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

    def _stands(self, name: str, vnumber: int, text: str, instead_of: int | None) -> None:
        self.changes.append((vnumber, instead_of))
        self.filters[vnumber] = text
        self.current[name] = vnumber

    def _standing(self, through: int) -> set[int]:
        standing: set[int] = set()
        for added, removed in self.changes[:through]:
            standing.discard(removed or 0)
            standing |= {added} if added is not None else set()
        return standing


TestSubscriptions = SubscriptionsMachine.TestCase
TestSubscriptions.settings = settings(max_examples=25, stateful_step_count=30, deadline=None)
