from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from geocast.model import Account, Right
from geocast.repository import Repository
from tests.postgres import Server


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of an empty repository, in each of the databases."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'repository.sqlite'}"
        return
    server: Server = request.getfixturevalue("postgres")
    with server.repository() as found:
        yield found


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where the repository of `embedded` is."""
    return tmp_path / "repository.sqlite"


@pytest.fixture
def embedded(file: Path) -> Iterator[Repository]:
    opened = Repository.open(f"sqlite:///{file}")
    yield opened
    opened.close()


@pytest.fixture
def blank(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a database without any tables; give the kind by `request.param`."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'blank.sqlite'}"
        return
    server: Server = request.getfixturevalue("postgres")
    with server.database("template1") as found:
        yield found


@pytest.fixture
def repository(url: str) -> Iterator[Repository]:
    opened = Repository.open(url)
    yield opened
    opened.close()


@pytest.fixture
def ann(repository: Repository) -> Account:
    return repository.accounts.add("ann", [Right.SUBSCRIBE])


@pytest.fixture
def bob(repository: Repository) -> Account:
    return repository.accounts.add("bob", [Right.SUBSCRIBE])


@pytest.fixture
def press(repository: Repository) -> Account:
    return repository.accounts.add("press", [Right.PUBLISH])
