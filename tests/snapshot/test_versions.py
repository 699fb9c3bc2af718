"""Random histories: every version gives the answer of the subscriptions that stand in it."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import numpy as np
import shapely
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from geocast.snapshot import MergePlan, Part, SnapshotMatcher, SnapshotStore
from tests.oracle import PREDICATES
from tests.snapshot.samples import FILTERS, Wanted, batch_of, found, matched, subscription_table
from tests.strategies import geometries

_areas = st.builds(
    Wanted, geometries(), st.sampled_from([None, *PREDICATES]), st.sampled_from(FILTERS)
)
_texts = st.sampled_from(
    [
        Wanted(None, None, "speed >= 2 AND S_WITHIN(geometry, POLYGON((0 0, 4 0, 4 4, 0 0)))"),
        Wanted(None, None, "NOT S_INTERSECTS(geometry, POINT(2 2)) OR id = 'd'"),
        Wanted(None, None, "kind LIKE 'b%'"),
    ]
)
_added = st.lists(st.one_of(_areas, _areas, _texts), max_size=4)


class Histories(RuleBasedStateMachine):
    """The model: what each subscription matches, and who stands in each version."""

    def __init__(self) -> None:
        super().__init__()
        self.directory = Path(tempfile.mkdtemp(prefix="geocast-snapshot-"))
        self.store = SnapshotStore(self.directory)
        self.batch = batch_of()
        self.wanted: dict[int, Wanted] = {}
        self.matched: dict[int, frozenset[int]] = {}
        self.standing: frozenset[int] = frozenset()
        self.versions: dict[int, frozenset[int]] = {}
        self.held: dict[int, tuple[SnapshotMatcher, frozenset[int]]] = {}
        self.merging: tuple[MergePlan, Part] | None = None
        self.through = 0
        self.checked = 0

    def teardown(self) -> None:
        self.check_all()
        self.store.close()
        shutil.rmtree(self.directory)

    @rule(changes=st.lists(_added, min_size=1, max_size=4), data=st.data())
    def apply(self, changes: list[list[Wanted]], data: st.DataObject) -> None:
        for added in changes:
            removed: list[int] = []
            if self.standing:
                removed = data.draw(st.lists(st.sampled_from(sorted(self.standing)), max_size=3))
            self.change(added, removed)

    def change(self, added: list[Wanted], removed: list[int]) -> None:
        fresh = dict(enumerate(added, len(self.wanted) + 1))
        self.through += len(added) + len(removed)
        version = self.store.apply(subscription_table(fresh), removed, self.through)
        self.wanted |= fresh
        self.matched |= {number: matched(wanted) for number, wanted in fresh.items()}
        self.standing = (self.standing | fresh.keys()) - set(removed)
        self.versions[version.version] = self.standing
        assert (version.through, version.count) == (self.through, len(self.standing))

    @precondition(lambda self: self.versions and self.merging is None)
    @rule(reversed_=st.booleans())
    def merge(self, reversed_: bool) -> None:
        """Build a part, from tables in any order; changes may follow before it is installed."""
        plan = self.store.plan_merge()
        if plan is None:
            return
        numbers = plan.vnumbers.tolist()
        assert set(numbers) <= self.versions[plan.version]
        chosen = numbers[::-1] if reversed_ else numbers
        half = len(chosen) // 2
        tables = (
            subscription_table({number: self.wanted[number] for number in some})
            for some in (chosen[:half], chosen[half:])
        )
        self.merging = plan, self.store.merge(plan, tables)

    @precondition(lambda self: self.merging)
    @rule()
    def install(self) -> None:
        assert self.merging is not None
        version = self.store.install(*self.merging)
        self.merging = None
        self.versions[version.version] = self.standing
        assert (version.through, version.count) == (self.through, len(self.standing))

    @precondition(lambda self: self.versions)
    @rule(data=st.data())
    def hold(self, data: st.DataObject) -> None:
        """Open a version and use it on, also when it is removed."""
        number = data.draw(st.sampled_from(sorted(self.versions)))
        self.held[number] = SnapshotMatcher.open(self.directory, number), self.versions[number]

    @precondition(lambda self: self.versions)
    @rule(data=st.data())
    def remove_unneeded(self, data: st.DataObject) -> None:
        self.remove_unneeded_but(
            data.draw(st.sets(st.sampled_from(sorted(self.versions)), max_size=3))
        )

    def remove_unneeded_but(self, needed: set[int]) -> None:
        kept = needed | {max(self.versions)}
        removed = self.store.remove_unneeded(needed)
        assert removed == sorted(self.versions.keys() - kept)
        self.versions = {number: self.versions[number] for number in sorted(kept)}

    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.store = SnapshotStore(self.directory)
        latest = self.store.latest()
        assert (latest.version if latest else None) == max(self.versions, default=None)

    @invariant()
    def the_latest_version_answers_as_it_should(self) -> None:
        latest = max(self.versions, default=0)
        if latest > self.checked:
            self.check(latest)
            self.checked = latest

    @precondition(lambda self: len(self.versions) > 1)
    @rule()
    def check_all(self) -> None:
        for number in self.versions:
            self.check(number)
        for matcher, standing in self.held.values():
            assert found(matcher, self.batch) == self.expected(standing)

    def check(self, number: int) -> None:
        matcher, standing = SnapshotMatcher.open(self.directory, number), self.versions[number]
        assert found(matcher, self.batch) == self.expected(standing)
        assert len(matcher) == len(standing)

    def expected(self, standing: frozenset[int]) -> list[tuple[int, int]]:
        return sorted((row, number) for number in standing for row in self.matched[number])

    @invariant()
    def sizes_are_those_of_the_files(self) -> None:
        latest = self.store.latest()
        if latest is None:
            return
        files = [f for name in latest.parts for f in (self.directory / "parts" / name).iterdir()]
        if latest.tombstones is not None:
            files.append(self.directory / "tombstones" / latest.tombstones)
        assert latest.bytes == sum(file.stat().st_size for file in files)


TestHistories = Histories.TestCase
TestHistories.settings = settings(
    max_examples=8,
    stateful_step_count=14,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def test_changes_between_plan_and_installation_are_kept() -> None:
    """A long history of few subscriptions a change, merged whenever a merge is due."""
    history, rng = Histories(), np.random.default_rng(3)
    areas = [shapely.box(x, y, x + 2, y + 1) for x in range(4) for y in range(4)]
    merges = 0
    for step in range(40):
        added = [
            Wanted(
                areas[rng.integers(16)], str(rng.choice([*PREDICATES])), FILTERS[rng.integers(5)]
            )
            for _ in range(rng.integers(0, 4))
        ]
        standing = sorted(history.standing)
        history.change(added, rng.permutation(standing)[: rng.integers(0, 3)].tolist())
        if history.merging is not None and step % 3 == 0:
            history.install()
            merges += 1
        elif history.merging is None:
            history.merge(reversed_=step % 2 == 0)
        history.sizes_are_those_of_the_files()
        if step % 10 == 9:
            history.check_all()
            history.remove_unneeded_but({max(history.versions) - 3})
    assert merges > 4
    history.teardown()
