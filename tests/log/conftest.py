from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from geocast.log import Log
from geocast.model import now
from tests.log.implementations import EMBEDDED, IMPLEMENTATIONS


class Logs:
    """Opens logs of one implementation, all at one place, and closes them at the end."""

    def __init__(self, name: str, place: Path) -> None:
        self.name = name
        self.place = place
        self._opened: list[Log] = []

    def open(
        self, partitions: int = 2, unique_keys: bool = True, *, clock: Callable[[], int] = now
    ) -> Log:
        log = IMPLEMENTATIONS[self.name](self.place, partitions, unique_keys, clock=clock)
        self._opened.append(log)
        return log

    def close(self) -> None:
        for log in self._opened:
            log.close()


def opener(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Logs]:
    if request.param == "kafka":
        request.getfixturevalue("kafka")
    made = Logs(request.param, tmp_path / "log")
    yield made
    made.close()


logs = pytest.fixture(params=sorted(IMPLEMENTATIONS), name="logs")(opener)
embedded = pytest.fixture(params=EMBEDDED, name="embedded")(opener)


@pytest.fixture
def log(logs: Logs) -> Log:
    return logs.open()
