"""Who takes part, and who has which share of the work, in both databases."""

from __future__ import annotations

import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from hypothesis import given
from hypothesis import strategies as st

from geocast.repository import Repository
from geocast.repository.members import divide

WORKS = {"mail": 8, "house": 1}


def held(repository: Repository, name: str, **more: object) -> set[int]:
    found = repository.members.beat(name, "deliver", 60, WORKS, **more)  # type: ignore[arg-type]
    return set(found["mail"].held)


def test_shares_move_to_those_who_come_and_from_those_who_leave(repository: Repository) -> None:
    members = repository.members
    assert held(repository, "a") == set(range(8))
    assert held(repository, "b") == set(), "nothing is free yet"
    assert members.present("deliver") == ["a", "b"]
    mine = members.beat("a", "deliver", 60, WORKS)
    assert mine["mail"].leaving == {4, 5, 6, 7}
    assert mine["house"].held == {0}
    assert held(repository, "b") == set(), "a share is given up before it is taken"
    released = [("mail", number) for number in (4, 5, 6, 7)]
    assert held(repository, "a", released=released) == {0, 1, 2, 3}
    assert held(repository, "b") == {4, 5, 6, 7}
    members.leave("a")
    assert held(repository, "b") == set(range(8))
    assert members.present("deliver") == ["b"]


def test_who_is_silent_loses_all_shares(repository: Repository) -> None:
    repository.members.beat("a", "deliver", 0.2, WORKS)
    assert held(repository, "b") == set()
    time.sleep(0.3)
    assert repository.members.present("deliver") == ["b"]
    assert held(repository, "b") == set(range(8))
    assert held(repository, "a") == set(), "one that comes back begins anew"


def test_who_is_known_to_have_ended_is_not_waited_for(repository: Repository) -> None:
    held(repository, "a")
    assert held(repository, "b", is_gone=lambda name: name == "a") == set(range(8))


def test_roles_do_not_share(repository: Repository) -> None:
    repository.members.beat("p", "pipeline", 60)
    assert held(repository, "a") == set(range(8))
    assert repository.members.present("pipeline") == ["p"]


def test_whoever_asks_at_the_same_time_no_two_have_the_same(repository: Repository) -> None:
    def work(name: str, rounds: int) -> set[int]:
        mine: set[tuple[str, int]] = set()
        for _ in range(rounds):
            found = repository.members.beat(name, "deliver", 60, WORKS, released=mine)
            mine = {(work, number) for work, one in found.items() for number in one.leaving}
        return set(found["mail"].held)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, "abcd", [12] * 4))
    for _ in range(2):  # who gave up too late for the others to take it gives them the time
        shares = [work(name, 2) for name in "abcd"]
    assert sorted(map(len, shares)) == [2, 2, 2, 2]
    assert set().union(*shares) == set(range(8))


@given(
    st.lists(st.sampled_from(["a", "b", "c", "d", None]), max_size=12),
    st.sets(st.sampled_from("abc"), min_size=1),
)
def test_in_the_end_all_have_as_many(holders: list[str | None], alive: set[str]) -> None:
    shares = dict(enumerate(holders))
    for _ in range(3):
        for name in sorted(alive):
            division = divide(name, shares, alive)
            assert not division.held & division.leaving
            shares |= dict.fromkeys(division.held, name) | dict.fromkeys(division.leaving)
    counts = Counter(shares.values())
    if holders:
        assert counts.keys() <= alive
        assert counts.total() == len(holders)
        most = max(counts.values())
        assert min(counts.get(name, 0) for name in alive) >= most - 1
