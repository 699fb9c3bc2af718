"""What can befall a cluster: parts die or hang, disks are full, a broker is cut off."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

import psutil
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from geocast.bench.cluster.disks import Disks
from geocast.bench.cluster.island import Island
from geocast.bench.cluster.parts import Parts, is_alive

__all__ = ["Faults"]

_KILLED: Final = {
    **dict.fromkeys(("broker", "leader", "worker", "executor", "gateway", "deliver"), 2.0),
    "python": 2.0,
    "driver": 1.5,
    "postgres": 1.5,
    "master": 0.5,
}
_PAUSED: Final = {"paused broker": 1.0, "paused deliver": 1.0, "paused gateway": 0.5}
_CUT_OFF: Final = "cut off broker"
_LASTING_SECONDS: Final = 10.0
"""Longer than the session of a broker (scripts/kafka.sh), and than the lease of a deliver."""

_FULL_SECONDS: Final = 5.0


class Faults:
    """Inflicts faults, and ends those that last.

    Where this process may mount file systems, two parts of the cluster have small disks of their
    own; where it may make network namespaces, one broker is in one.
    """

    def __init__(self, folder: Path) -> None:
        self._parts = Parts(folder)
        self._disks = Disks(folder)
        self._paused: list[psutil.Process] = []
        self.island = Island()

    def prepare(self) -> None:
        """Make disks and the namespace, before the cluster starts."""
        self._disks.mount()
        self.island.make()

    @property
    def weights(self) -> Mapping[str, float]:
        """What can be done, and how often relative to the others."""
        cut_off = {_CUT_OFF: 1.0} if self.island.is_there else {}
        return _KILLED | _PAUSED | cut_off | dict.fromkeys(self._disks.faults, 0.7)

    def inflict(self, fault: str, chance: random.Random, servers: str) -> bool:
        """Break something in one of those ways; tells whether it was there."""
        if fault == _CUT_OFF:
            self.island.cut()
            time.sleep(_LASTING_SECONDS)
            return True
        if fault in self._disks.faults:
            self._disks.fill(fault)
            time.sleep(_FULL_SECONDS)
            return True
        kind = _leader(servers) if fault == "leader" else fault.removeprefix("paused ")
        targets = [process for process in self._parts.of(kind) if is_alive(process)]
        if not targets:
            return False
        return self._stop(chance.choice(targets), kill=fault not in _PAUSED)

    def end(self) -> None:
        """Undo what lasts: pauses, full disks, and a link that is down."""
        self._disks.empty()
        self.island.join()
        while self._paused:
            with suppress(psutil.NoSuchProcess):
                self._paused.pop().resume()

    def remove(self) -> None:
        """Remove disks and the namespace, after the cluster has ended."""
        self._disks.unmount()
        self.island.remove()

    def _stop(self, process: psutil.Process, *, kill: bool) -> bool:
        try:
            if kill:
                process.kill()
                return True
            process.suspend()
        except psutil.NoSuchProcess:
            return False
        self._paused.append(process)
        time.sleep(_LASTING_SECONDS)
        return True


def _leader(servers: str) -> str:
    """Return the broker that leads the first partition of publications; no name if none does."""
    client = AdminClient({"bootstrap.servers": servers, "log_level": 0})
    with suppress(KafkaException):
        for name, topic in client.list_topics(timeout=20).topics.items():
            if name.endswith(".publications") and topic.partitions:
                return f"broker-{topic.partitions[0].leader}"
    return ""
