"""Runs what is not in the journal yet, in an order that starts Spark and draws data seldom."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from math import sqrt
from pathlib import Path

from geocast.bench.data import DataFolder
from geocast.bench.thesis.baselines import measure_threads
from geocast.bench.thesis.batch import measure_batch
from geocast.bench.thesis.door import REPRESENTATIVES
from geocast.bench.thesis.figures import Figure
from geocast.bench.thesis.journal import Journal, place_of
from geocast.bench.thesis.kafka import measure_kafka
from geocast.bench.thesis.match import measure_match
from geocast.bench.thesis.memory import measure_memory
from geocast.bench.thesis.outcomes import Outcomes
from geocast.bench.thesis.sedona import measure_sedona
from geocast.bench.thesis.sedona_room import SedonaRoom
from geocast.bench.thesis.sessions import Sessions
from geocast.bench.thesis.setting import Found, NotMeasurableError, Setting
from geocast.bench.thesis.stream import measure_stream
from geocast.bench.thesis.workloads import Workloads
from geocast.bench.workload import needs
from geocast.errors import InputError

__all__ = ["Watch", "run_thesis"]

Watch = Callable[[int, int, float, str], None]
"""Is told how many measurements are done, how many there are, about how many seconds remain, and
what is measured now."""

_WAYS = ("batch", "match", "stream", "kafka", "threads", "plain", "memory", "sedona")
_WEIGHTS = {
    "batch": 1.0,
    "match": 1.0,
    "stream": 3.0,
    "kafka": 2.0,
    "memory": 4.0,
    "threads": 0.3,
    "plain": 1.0,
}
_EXPECTED = 10.0
"""Seconds that as much weight is taken to need before anything is known: the first starts Java."""

_REHEARSED = REPRESENTATIVES[-1]
"""Is run first in a new session and not counted, so that Java has compiled what all of them use."""

_SPARK = {
    "batch": measure_batch,
    "match": measure_match,
    "stream": measure_stream,
    "memory": measure_memory,
}


def run_thesis(
    figures: Sequence[Figure],
    folder: DataFolder,
    out: Path,
    watch: Watch,
    *,
    sedona: Path | None,
    kafka: str,
    java: str,
) -> Outcomes:
    """Measure every cell of the figures and return all that is known of them.

    Each measurement is in the journal, OUT/journal.jsonl, as soon as it is made. One that fails
    is told in the outcomes, and is tried again by the next run; the others go on. `sedona` is the
    folder for Sedona's environment, where that is asked for; `kafka` the address of brokers, or
    nothing; `java` are options of Java.
    """
    settings = _in_order(setting for figure in figures for setting in figure.settings())
    files = needs({setting.recipe: None for setting in settings})
    folder.require(files)
    journal = Journal(out / "journal.jsonl", place_of(folder, files))
    outcomes = Outcomes()
    clock = _Clock([setting for setting in settings if journal.find(setting) is None], watch)
    with (
        tempfile.TemporaryDirectory(prefix="geocast-thesis-") as room,
        _Bench(folder, Path(room), sedona, kafka, java) as bench,
    ):
        for setting in settings:
            known = journal.find(setting)
            if known is not None:
                outcomes.found[setting] = known
                continue
            clock.begin(setting)
            bench.measure(setting, journal, outcomes)
            clock.end(setting)
    return outcomes


class _Bench:
    """Everything that measurements share: data, Spark, a room for files."""

    def __init__(
        self, folder: DataFolder, room: Path, sedona: Path | None, kafka: str, java: str
    ) -> None:
        self._workloads = Workloads(folder, room / "data")
        self._sessions = Sessions(java)
        self._sedona = SedonaRoom(sedona) if sedona else None
        self._kafka = kafka
        self._room = room / "answers"

    def __enter__(self) -> _Bench:
        return self

    def __exit__(self, *_: object) -> None:
        self._sessions.close()

    def measure(self, setting: Setting, journal: Journal, outcomes: Outcomes) -> None:
        """Measure one setting and write it down, or note why there is nothing."""
        try:
            found = self._found(setting)
        except NotMeasurableError as error:
            outcomes.impossible[setting] = str(error)
        except InputError:
            raise
        # What an engine, Java or Sedona raises is not known beforehand; it is told in the report,
        # makes the run fail in the end, and the other measurements go on.
        except Exception as error:
            outcomes.failed[setting] = f"failed: {' '.join(str(error).split())[:300]}"
            self._sessions.close()
        else:
            outcomes.found[setting] = found
            journal.add(setting, found)

    def _found(self, setting: Setting) -> Found:
        if setting.way == "kafka" and not self._kafka:
            raise NotMeasurableError("Kafka partitions are varied only with --kafka URL")
        files = self._workloads.files(setting)
        ways = _SPARK | {"kafka": partial(measure_kafka, url=self._kafka)}
        measure = ways.get(setting.way)
        if measure is not None:
            known = self._sessions.has(setting.master)
            session = self._sessions.open(setting.master, fresh=setting.way == "memory")
            if not known and setting.way != "memory":
                rehearsal = replace(setting, engine=_REHEARSED, cells=setting.files)
                measure_batch(session, rehearsal, files, self._room)
            return measure(session, setting, files, self._room)
        self._sessions.close()
        if setting.way != "sedona":
            return measure_threads(setting, files, self._room)
        if self._sedona is None:
            raise NotMeasurableError("Apache Sedona is measured only with --sedona")
        return measure_sedona(self._sedona, setting, files, self._room)


class _Clock:
    """Estimates the rest of the time from what was done, with a weight for each way."""

    def __init__(self, settings: Sequence[Setting], watch: Watch) -> None:
        self._all, self._watch = len(settings), watch
        self._left = sum(map(_weight, settings))
        self._done, self._number, self._began = 0.0, 0, time.monotonic()

    def begin(self, setting: Setting) -> None:
        """Tell what is measured now."""
        elapsed = time.monotonic() - self._began
        pace = (_EXPECTED + elapsed) / (_EXPECTED + self._done)
        self._watch(self._number, self._all, pace * self._left, str(setting))

    def end(self, setting: Setting) -> None:
        """Note that it is done."""
        self._number += 1
        self._done += _weight(setting)
        self._left -= _weight(setting)


def _weight(setting: Setting) -> float:
    size = sqrt(setting.recipe.pubs * setting.recipe.subs)
    return _WEIGHTS.get(setting.way, 10.0) * (1 + size / 3_000)


def _in_order(settings: Iterable[Setting]) -> list[Setting]:
    """Return each setting once: those of a session, and in it those of a workload, together."""
    once = dict.fromkeys(settings)
    sessions = {name: place for place, name in enumerate(dict.fromkeys(s.master for s in once))}
    recipes = {one: place for place, one in enumerate(dict.fromkeys(s.recipe for s in once))}

    def turn(setting: Setting) -> tuple[bool, int, int, int, int]:
        alone = setting.way not in ("batch", "match", "stream")
        way = _WAYS.index(setting.way)
        place = sessions[setting.master]
        return alone, way if alone else 0, place, recipes[setting.recipe], way

    return sorted(once, key=turn)
