from __future__ import annotations

import pytest
import shapely

from geocast.bench.data import DataFolder
from geocast.bench.live import make_scene
from geocast.errors import InputError


def test_an_event_matches_as_many_areas_as_asked_for(data: DataFolder) -> None:
    scene = make_scene(data, 200, 10)
    events = shapely.points(scene.positions)
    pairs = sum(int(shapely.intersects(area, events).sum()) for area in scene.areas)
    assert pairs / len(events) == pytest.approx(10, rel=0.1)
    ids = [feature["id"] for feature in scene.subscriptions()]
    assert len(set(ids)) == 200


def test_more_matches_than_areas_are_refused(data: DataFolder) -> None:
    with pytest.raises(InputError, match="10 matches an event are too many of 15"):
        make_scene(data, 15, 10)
