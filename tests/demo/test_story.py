from __future__ import annotations

from collections import Counter

import pytest

from geocast.cli.demo.check import brute_force
from geocast.cli.demo.quakes import read_quakes
from geocast.cli.demo.story import World, everybody
from geocast.cli.demo.subscription import Subscription, to_table
from geocast.language import normalise


@pytest.fixture(scope="module")
def subscriptions() -> list[Subscription]:
    return everybody(World())


def test_everybody_is_there_once(subscriptions: list[Subscription]) -> None:
    assert len({subscription.id for subscription in subscriptions}) == len(subscriptions) == 3677
    assert Counter(subscription.group for subscription in subscriptions) == {
        "counties": 3230,
        "states": 56,
        "countries": 241,
        "cities": 32,
        "mine inspectors": 56,
        "newsrooms": 56,
        "desks": 6,
    }


def test_every_filter_is_understood(subscriptions: list[Subscription]) -> None:
    for text in {subscription.filter for subscription in subscriptions}:
        assert normalise(text).filters


def test_areas_are_valid_and_whole_expressions_have_none(subscriptions: list[Subscription]) -> None:
    for subscription in subscriptions:
        assert (subscription.area is None) == (subscription.predicate is None)
        assert subscription.area is None or subscription.area.is_valid


def test_table_has_the_columns_of_subscriptions(subscriptions: list[Subscription]) -> None:
    table = to_table(subscriptions)
    assert table.column_names == ["id", "subscriber", "geometry", "predicate", "filter"]
    assert table["geometry"].null_count == sum(s.area is None for s in subscriptions)


def test_every_desk_has_something_to_tell(subscriptions: list[Subscription]) -> None:
    desks = [subscription for subscription in subscriptions if subscription.group == "desks"]
    told = brute_force(desks, read_quakes())
    assert set(told.subscription.tolist()) == set(range(len(desks)))
