from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from geocast.model import Account, Right
from geocast.repository import Repository


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'repository.sqlite'}"


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
