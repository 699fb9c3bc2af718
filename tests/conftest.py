from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, Final

import pytest
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

from tests.kafka.broker import SERVERS_VARIABLE, running_broker
from tests.postgres import Server, shared_server

# An example may wait for a kernel to be compiled, or for a processor that others use.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

# Java lives for seconds here: its second compiler would take more time than it could save.
os.environ.setdefault("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1")

LONGEST_FIRST: Final = (
    "tests/chaos/test_guarantees",
    "tests/cluster/test_cluster",
    "tests/pipeline/",
    "tests/kafka/",
    "tests/log/",
    "tests/match/test_oracle_workloads",
    "tests/chaos/",
    "tests/bench/test_thesis.py",
    "tests/match/test_oracle_lattice",
    "tests/browser/",
    "tests/service/",
    "tests/demo/",
)
"""What would keep one process busy at the end while the others have nothing left to do.

The first begin at once, one in each process; a file that has few tests is followed by another.
"""

ROOMS: Final = {
    "tests/chaos": "tests/chaos",
    "tests/cluster": "tests/chaos",
    "tests/pipeline": "tests/pipeline",
    "tests/browser": "tests/browser",
    "tests/kafka": "tests/kafka",
    "tests/log": "tests/kafka",
}
"""Folders whose tests all run in one process.

What is used and broken takes processors for as long as it lasts: one service after the other.
"""

MOST_PROCESSES: Final = 4


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where a broker is that all tests of this session share."""
    with running_broker(tmp_path_factory.mktemp("kafka") / "broker") as servers:
        os.environ[SERVERS_VARIABLE] = servers
        yield servers


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="run the long comparisons, too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--full"):
        _deselect_long(config, items)
    items.sort(key=lambda item: _turn(item.nodeid))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """One more than there are processors: those who start and kill services mostly wait."""
    return min(MOST_PROCESSES, len(os.sched_getaffinity(0)) + 1)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling:
    config.option.loadscopereorder = False
    return OneProcessAFile(config, log)


class OneProcessAFile(LoadScopeScheduling):  # type: ignore[misc]
    """The tests of a file share fixtures, those of the pipeline one Spark session.

    Those with a browser share one service, those of Kafka itself one broker.
    """

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return next((shared for room, shared in ROOMS.items() if file.startswith(f"{room}/")), file)


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Server:
    """The PostgreSQL server of this run."""
    base = tmp_path_factory.getbasetemp()
    return shared_server(base.parent if "PYTEST_XDIST_WORKER" in os.environ else base)


def _deselect_long(config: pytest.Config, items: list[pytest.Item]) -> None:
    long = [item for item in items if item.get_closest_marker("full")]
    if long:
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if item not in long]


def _turn(nodeid: str) -> int:
    turns = (turn for turn, place in enumerate(LONGEST_FIRST) if nodeid.startswith(place))
    return next(turns, len(LONGEST_FIRST))
