from __future__ import annotations

import os
from typing import Any, Final

import pytest
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

# An example may wait for a kernel to be compiled, or for a processor that others use.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

LONGEST_FIRST: Final = (
    "tests/chaos/test_guarantees",
    "tests/pipeline/",
    "tests/match/test_oracle_workloads",
    "tests/chaos/",
    "tests/bench/test_thesis.py",
    "tests/match/test_oracle_lattice",
    "tests/service/",
    "tests/demo/",
)
"""What would keep one process busy at the end while the others have nothing left to do.

The first begin at once, one in each process; a file that has few tests is followed by another.
"""

MOST_PROCESSES: Final = 4


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
    """The tests of a file share fixtures, and those of the pipeline one Spark session."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return "tests/pipeline" if file.startswith("tests/pipeline/") else file


def _deselect_long(config: pytest.Config, items: list[pytest.Item]) -> None:
    long = [item for item in items if item.get_closest_marker("full")]
    if long:
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if item not in long]


def _turn(nodeid: str) -> int:
    turns = (turn for turn, place in enumerate(LONGEST_FIRST) if nodeid.startswith(place))
    return next(turns, len(LONGEST_FIRST))
