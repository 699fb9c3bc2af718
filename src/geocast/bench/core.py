"""One workload, matched by Geocast and by its peers in turn, and their answers compared."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geocast.bench.measure import Seconds, one_thread, timed
from geocast.bench.peers import PEERS, Pairs, Peer
from geocast.bench.results import Absence, Agreement, Measurement, Results
from geocast.bench.subject import Subject, pairs_of
from geocast.bench.workload import Workload
from geocast.model import Rejects

__all__ = ["COLD", "WARM", "Announce", "Options", "run_workload"]

COLD = "geocast"
"""Geocast on a batch, with code compiled but nothing cached before."""

WARM = "geocast warm"
"""Geocast on the same batch again."""

Announce = Callable[[str], None]
"""Is called with what runs next."""

_FIRST_SLICE = 16
_LARGEST_STEP = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How to measure: repetitions, which peers, and the CPU seconds that a peer's batch may take.

    A slow peer matches a part of the publications, from the first on, and its rate is that of
    the part; workloads are in random order.
    """

    repetitions: int = 3
    peers: Sequence[str] = tuple(PEERS)
    peer_seconds: float = 8.0


@dataclass(frozen=True, slots=True)
class _Contender:
    """A loaded peer and the slice of publications that it can match in its time."""

    peer: Peer
    publications: pa.Table


def run_workload(
    name: str, workload: Workload, options: Options, results: Results, announce: Announce
) -> None:
    """Measure Geocast and the peers on one workload, and add what was found to the results.

    Repetitions go round all engines, so that a busy spell of the machine hits all alike.
    """
    with tempfile.TemporaryDirectory(prefix="geocast-bench-") as folder, one_thread():
        announce(f"{name}: index of {workload.subscriptions.num_rows:,} subscriptions")
        subject = Subject(name, workload.subscriptions, Path(folder))
        results.indexes.append(subject.facts)
        announce(f"{name}: compilation")
        _compile(subject, workload)
        run = _Run(name, workload, subject, results)
        with _contenders(run, options, announce) as contenders:
            for repetition in range(options.repetitions):
                announce(f"{name}: {COLD}, round {repetition + 1} of {options.repetitions}")
                run.measure_geocast(repetition)
                for contender in contenders:
                    announce(f"{name}: {contender.peer.name}, round {repetition + 1}")
                    run.measure_peer(contender, repetition)


class _Run:
    """The state of measuring one workload."""

    def __init__(self, name: str, workload: Workload, subject: Subject, results: Results) -> None:
        self.name = name
        self.workload = workload
        self.results = results
        self._subject = subject
        self._answer: Pairs | None = None
        self._rejected = np.empty(0, np.int64)

    def measure_geocast(self, repetition: int) -> None:
        """Match the whole batch with a fresh matcher, and once more with the same."""
        matcher, rejects = self._subject.open(), Rejects()
        publications = self.workload.publications
        cold, first = timed(lambda: matcher.match(publications, rejects=rejects))
        warm, again = timed(lambda: matcher.match(publications, rejects=Rejects()))
        pairs = pairs_of(cold, publications, self.workload.subscriptions)
        self._note(COLD, repetition, publications.num_rows, len(pairs), first)
        self._note(WARM, repetition, publications.num_rows, len(pairs), again)
        if self._answer is None:
            self._answer = pairs
            self._rejected = np.array([reject.row for reject in rejects], dtype=np.int64)
            second = pairs_of(warm, publications, self.workload.subscriptions)
            self._compare(WARM, publications.num_rows, second)

    def measure_peer(self, contender: _Contender, repetition: int) -> None:
        """Match the peer's slice, and compare its pairs with Geocast's the first time."""
        peer, publications = contender.peer, contender.publications
        pairs, seconds = timed(lambda: peer.match(publications), peer.cpu_seconds)
        self._note(peer.name, repetition, publications.num_rows, len(pairs), seconds)
        if repetition == 0:
            self._compare(peer.name, publications.num_rows, pairs)

    def _note(self, engine: str, repetition: int, rows: int, pairs: int, took: Seconds) -> None:
        known = self.workload.subscriptions.num_rows
        self.results.measurements.append(
            Measurement(self.name, engine, repetition, known, rows, pairs, took.cpu, took.wall)
        )

    def _compare(self, engine: str, rows: int, pairs: Pairs) -> None:
        if self._answer is None:
            raise RuntimeError("Geocast answers before its peers")
        mine = self._answer.codes()
        mine = mine[mine < (rows << 32)]
        theirs = self._without_rejected(pairs)
        lacking = len(np.setdiff1d(mine, theirs, assume_unique=True))
        surplus = len(np.setdiff1d(theirs, mine, assume_unique=True))
        self.results.agreements.append(
            Agreement(self.name, engine, rows, len(mine), lacking, surplus)
        )

    def _without_rejected(self, pairs: Pairs) -> NDArray[np.int64]:
        """Return the codes of the pairs that no rejected record is part of."""
        refused = np.isin(pairs.publications, self._rejected)
        refused |= np.isin(pairs.subscriptions, self._subject.rejected)
        return Pairs(pairs.publications[~refused], pairs.subscriptions[~refused]).codes()


def _compile(subject: Subject, workload: Workload) -> None:
    """Match once, cold and warm, so that all code that the batch runs through is compiled."""
    matcher = subject.open()
    for _ in range(2):
        matcher.match(workload.publications, rejects=Rejects())


@contextmanager
def _contenders(run: _Run, options: Options, announce: Announce) -> Iterator[list[_Contender]]:
    """Load the peers that can take part; note for the others why they cannot."""
    ready: list[_Contender] = []
    try:
        for name in options.peers:
            announce(f"{run.name}: loading {name}")
            reason = PEERS[name].reason_missing() or _load(run, name, options, ready)
            if reason:
                run.results.absences.append(Absence(run.name, name, reason))
        yield ready
    finally:
        for contender in ready:
            contender.peer.close()


def _load(run: _Run, name: str, options: Options, ready: list[_Contender]) -> str | None:
    peer: Peer | None = None
    # What another engine raises when it cannot do a workload is not known beforehand; it is
    # told in the report, and the run goes on.
    try:
        peer = PEERS[name](run.workload.subscriptions)
        rows = _affordable(peer, run.workload.publications, options.peer_seconds)
    except Exception as error:
        if peer is not None:
            peer.close()
        return f"cannot do this workload: {' '.join(str(error).split())[:200]}"
    ready.append(_Contender(peer, run.workload.publications.slice(0, rows)))
    return None


def _affordable(peer: Peer, publications: pa.Table, seconds: float) -> int:
    """Find how many publications the peer matches in about the time, by trying ever more."""
    total: int = publications.num_rows
    rows = min(_FIRST_SLICE, total)
    while True:
        batch = publications.slice(0, rows)
        _, took = timed(partial(peer.match, batch), peer.cpu_seconds)
        step = min(_LARGEST_STEP, 0.9 * seconds / max(took.cpu, 1e-6))
        if rows == total or step < 1.5:
            return rows
        rows = min(total, int(rows * step))
