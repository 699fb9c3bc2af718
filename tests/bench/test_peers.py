from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from geocast.bench.data import DataFolder
from geocast.bench.peers import PEERS, Pairs
from geocast.bench.subject import pairs_of
from geocast.bench.workload import RECIPES, make
from geocast.match.matcher import Matcher
from geocast.model import Rejects


@pytest.mark.parametrize("peer", PEERS)
@pytest.mark.parametrize("kind", ["thesis", "points", "tracks", "outlines", "osm"])
def test_peers_agree_with_geocast(data: DataFolder, peer: str, kind: str) -> None:
    workload = make(replace(RECIPES[kind], subs=300, pubs=120), data)
    assert PEERS[peer].reason_missing() is None
    engine = PEERS[peer](workload.subscriptions)
    theirs = engine.match(workload.publications)
    engine.close()
    rejects = Rejects()
    answer = Matcher(workload.subscriptions).match(workload.publications, rejects=rejects)
    mine = pairs_of(answer, workload.publications, workload.subscriptions)
    assert len(rejects) == 0
    assert len(mine) > 0
    np.testing.assert_array_equal(theirs.codes(), mine.codes())


@pytest.mark.parametrize("peer", PEERS)
def test_a_peer_answers_batch_after_batch_and_counts_its_time(data: DataFolder, peer: str) -> None:
    workload = make(replace(RECIPES["thesis"], subs=300, pubs=120), data)
    engine = PEERS[peer](workload.subscriptions)
    before = engine.cpu_seconds()
    whole = engine.match(workload.publications).codes()
    part = engine.match(workload.publications.slice(0, 50)).codes()
    assert engine.cpu_seconds() > before
    engine.close()
    np.testing.assert_array_equal(part, whole[whole < (50 << 32)])


def test_codes_do_not_depend_on_the_order_of_pairs() -> None:
    one = Pairs(np.array([2, 0, 1]), np.array([5, 6, 7]))
    other = Pairs(np.array([0, 1, 2]), np.array([6, 7, 5]))
    np.testing.assert_array_equal(one.codes(), other.codes())
    assert not np.array_equal(one.codes(), Pairs(one.subscriptions, one.publications).codes())


def test_joining_no_parts_gives_no_pairs() -> None:
    assert len(Pairs.join([])) == 0
