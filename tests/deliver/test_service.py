"""The whole process of delivery, in a thread."""

from __future__ import annotations

import threading
from contextlib import closing
from pathlib import Path

import pytest

from geocast.deliver import run_deliver
from geocast.errors import StateError
from geocast.log import SqliteLog
from geocast.operate import Place, Settings
from tests.deliver.receiver import receiving, until
from tests.deliver.world import World, record


def test_from_the_log_of_matches_to_a_receiver(tmp_path: Path, world: World) -> None:
    place = Place(tmp_path)
    settings = Settings(allow_private_webhooks=True)
    stop = threading.Event()
    thread = threading.Thread(target=run_deliver, args=(place, settings, stop))
    log = SqliteLog.open(place.matches, 2, unique_keys=False)
    with receiving() as receiver, closing(log):
        _, subscription = world.webhook(receiver.url)
        other = world.subscribe()
        thread.start()
        records = [record(offset, [subscription.vnumber, other.vnumber]) for offset in range(30)]
        values = [(one.id, one.encode()) for one in records]
        log.write(0, values, query="q", batch=0, source=0)
        until(lambda: len(receiver.posts) == 30)
        until(lambda: len(world.mail()) == 30)
        stop.set()
        thread.join(20)
        assert not thread.is_alive()
        assert receiver.publications == [one.id for one in records]
    assert {one.subscription for one in world.mail()} == {other.id}


def test_it_does_not_start_on_a_log_of_another_shape(tmp_path: Path) -> None:
    place = Place(tmp_path)
    SqliteLog.open(place.matches, 3, unique_keys=False).close()
    with pytest.raises(StateError, match="3 partitions"):
        run_deliver(place, Settings(), threading.Event())
