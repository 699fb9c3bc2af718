from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="run the long comparisons, too")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--full"):
        _deselect_long(config, items)
    for item in items:
        item.add_marker(pytest.mark.xdist_group(_group(item)))


def _deselect_long(config: pytest.Config, items: list[pytest.Item]) -> None:
    long = [item for item in items if item.get_closest_marker("full")]
    if long:
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if item not in long]


def _group(item: pytest.Item) -> str:
    """What runs in one process: a file, for its fixtures; all Spark tests, for one session."""
    return "spark" if item.get_closest_marker("spark") else item.nodeid.partition("::")[0]
