"""What the algorithms are compared with answers as the oracle does, too."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from geocast.bench.thesis.answers import digest_of_pairs
from geocast.bench.thesis.baselines import measure_threads
from geocast.bench.thesis.rivals import CENTRAL, PLAIN, SEDONA
from geocast.bench.thesis.scale import SCALES
from geocast.bench.thesis.sedona import measure_sedona
from geocast.bench.thesis.sedona_room import SedonaRoom, environment_folder
from geocast.bench.thesis.setting import Found
from geocast.bench.thesis.sizes import Sizes
from geocast.bench.thesis.workloads import Files, write_parts
from tests.algorithms.cases import CASES, REAL, case
from tests.match.comparison import publication_table, subscription_table

SIZES = Sizes(SCALES["small"], 2)
QUICK = ("lattice", "tracks", "outside", "borders", "clusters")
IN_TURN = [
    name if name in QUICK else pytest.param(name, marks=pytest.mark.full)
    for name in (*CASES, *REAL)
]


def files_of(what: str, room: Path) -> tuple[Files, tuple[int, str]]:
    """The files that a case lies in, and what the oracle says of it."""
    (publications, areas, predicates), (left, right) = case(what)
    table = publication_table(publications)
    write_parts(table, room / "parts", 3)
    write_parts(table, room / "warm", 0)
    subscriptions = subscription_table(areas, predicates)
    files = Files(subscriptions, table, room / "warm", room / "parts")
    names = (pa.array(side).cast(pa.string()) for side in (left, right))
    return files, digest_of_pairs(pa.table(list(names), ["publication", "subscription"]), files)


def agrees(found: Found, expected: tuple[int, str]) -> bool:
    return (found.pairs, found.matches) == expected


@pytest.mark.parametrize("what", IN_TURN)
def test_threads_find_what_the_oracle_finds(what: str, tmp_path: Path) -> None:
    files, expected = files_of(what, tmp_path)
    assert expected[0] > 0
    for engine in (*CENTRAL, *PLAIN):
        way = SIZES.batch(engine, "threads" if engine in CENTRAL else "plain")
        setting = replace(way, master="threads[2]")
        assert agrees(measure_threads(setting, files, tmp_path / "out"), expected), engine


@pytest.mark.full
@pytest.mark.parametrize("what", [*CASES, *REAL])
def test_sedona_finds_what_the_oracle_finds(what: str, tmp_path: Path) -> None:
    """Makes the environment, which is kept, if there is none yet; that needs a network."""
    files, expected = files_of(what, tmp_path)
    room = SedonaRoom(environment_folder())
    for engine in SEDONA:
        setting = SIZES.batch(engine, "sedona")
        assert agrees(measure_sedona(room, setting, files, tmp_path / "out"), expected), engine
