from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from tests.gateway.served import Served, serving


@pytest.fixture(scope="session")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("gateway")) as found:
        yield found


@pytest.fixture
def served(gateway: Served) -> Served:
    """A gateway with new accounts: alice (everything), paul (publish), sue (subscribe)."""
    return gateway.anew()


@pytest.fixture
def alice(served: Served) -> Iterator[httpx.Client]:
    with served.client("alice") as client:
        yield client


@pytest.fixture
def sue(served: Served) -> Iterator[httpx.Client]:
    with served.client("sue") as client:
        yield client


@pytest.fixture
def paul(served: Served) -> Iterator[httpx.Client]:
    with served.client("paul") as client:
        yield client


@pytest.fixture
def nobody(served: Served) -> Iterator[httpx.Client]:
    with served.client(None) as client:
        yield client
