from __future__ import annotations

import numpy as np
import pyarrow as pa

from geocast.cli.demo.check import Notifications, brute_force, from_matches
from geocast.model import MATCHES
from tests.demo.samples import SUBSCRIPTIONS, three_quakes


def pairs(notifications: Notifications) -> list[tuple[int, int]]:
    return list(zip(notifications.quake.tolist(), notifications.subscription.tolist(), strict=True))


def test_brute_force_tries_every_pair() -> None:
    found = brute_force(SUBSCRIPTIONS, three_quakes())
    assert pairs(found) == [(0, 0), (0, 2), (1, 0), (1, 1), (1, 2), (2, 0), (2, 3)]


def test_matches_become_the_same_pairs() -> None:
    rows = [
        {"publication": "c", "subscriptions": ["all", "sea"]},
        {"publication": "a", "subscriptions": ["all", "touch"]},
        {"publication": "b", "subscriptions": ["all", "edge", "touch"]},
    ]
    matches = pa.Table.from_pylist(rows, schema=MATCHES)
    found = from_matches(matches, three_quakes(), SUBSCRIPTIONS)
    assert found.agrees(brute_force(SUBSCRIPTIONS, three_quakes()))


def test_a_missing_or_different_pair_is_noticed() -> None:
    quake, subscription = np.array([0, 1, 2]), np.array([0, 0, 0])
    whole = Notifications.of(quake, subscription)
    assert whole.agrees(Notifications.of(quake[::-1], subscription))
    assert not whole.agrees(Notifications.of(quake[:2], subscription[:2]))
    assert not whole.agrees(Notifications.of(quake, np.array([0, 0, 1])))
