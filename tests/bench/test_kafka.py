"""`geocast bench kafka` with a real broker and tiny sizes; and its parts by themselves."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from geocast.bench.data import DataFolder
from geocast.bench.kafka import draw_scene
from geocast.bench.kafka.delay import _delay
from geocast.bench.kafka.subscriber import Heard
from geocast.bench.kafka.usage import _by_fifth
from geocast.files import read_texts
from tests.oracle.spatial import PREDICATES

SCRIPT = Path(__file__).parents[2] / "scripts" / "kafka.sh"


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "geocast", "bench", "kafka", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=400, env=dict(os.environ), check=False
    )


@pytest.mark.service
@pytest.mark.timeout(420)
def test_everything_is_measured(data: DataFolder) -> None:
    sizes = ["--subs", "60", "--pubs", "60", "--warm", "20", "--rate", "20", "--seconds", "2"]
    ran = bench("--broker", str(SCRIPT), *sizes, "--data", str(data.path))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    for words in (
        "core, two processes",
        "Kafka alone, from topic to topic",
        "topic to topic of matches",
        "matches to the subscriber's topic",
        "GeoJSON to geometry",
        "Delay at 20 publications/s",
        "broker",
        "subscriber",
    ):
        assert words in ran.stdout
    told = re.search(
        r"40 publications, ([\d,]+) messages with ([\d,]+) matches of ([\d,]+), 0 ", ran.stdout
    )
    assert told is not None, ran.stdout
    assert told[2] == told[3]
    assert 0 < int(told[1]) <= 40 <= int(told[2])


def test_one_of_two_is_to_be_named(data: DataFolder) -> None:
    ran = bench("--data", str(data.path))
    assert ran.returncode == 2
    assert "either --broker SCRIPT or --kafka URL" in ran.stderr


def test_the_scene_is_what_brute_force_says(data: DataFolder) -> None:
    scene = draw_scene(data, 50, 30, 10)
    records = [scene.record(f"n{row}", row) for row in range(40)]
    assert [key for key, _ in records] == [f"bench/n{row}".encode() for row in range(40)]
    subs = list(read_texts(scene.subscriptions(topic=True)))
    pubs = list(read_texts([value for _, value in records]))
    assert not subs[0].rejects
    assert set(subs[0].batch.column("topic").to_pylist()) == {True}
    expected = [
        sum(
            PREDICATES[name](geometry_of(pub), geometry_of(area))
            for name, area in zip(
                subs[0].batch.column("predicate").to_pylist(),
                subs[0].batch.column("geometry").to_pylist(),
                strict=True,
            )
        )
        for pub in pubs[0].batch.column("geometry").to_pylist()
    ]
    assert scene.matches.tolist() == expected
    assert sum(expected) > 10


def geometry_of(wkb: bytes) -> Any:
    import shapely

    return shapely.from_wkb(wkb)


def test_delays_and_what_is_wrong() -> None:
    expected = np.array([2, 0, 3])
    late = np.zeros(501, np.int64)
    late[[100, 200, 500]] = [2, 2, 1]
    right = _delay(5.0, expected, Heard(expected, late, 12.5), 0.25, 12.0, [])
    assert (right.p50, right.p90, right.p99, right.worst) == (0.2, 0.5, 0.5, 0.5)
    assert (right.messages, right.matches, right.expected, right.wrong) == (5, 5, 5, 0)
    assert right.behind == 0.5
    other = _delay(5.0, expected, Heard(np.array([2, 1, 2]), late, 12.5), 0.25, 12.0, [])
    assert other.wrong == 2


def test_memory_by_fifths() -> None:
    series = [(float(at), 100 * at) for at in range(11)]
    assert _by_fifth(series) == (100, 300, 500, 700, 900)
    assert _by_fifth([(0.0, 5), (10.0, 9)]) == (5, 5, 5, 5, 9)
