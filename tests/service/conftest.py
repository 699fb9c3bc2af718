from __future__ import annotations

from collections.abc import Iterator

import pytest

from geocast.bench.service import ServiceUnderTest


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceUnderTest]:
    with ServiceUnderTest(tmp_path_factory.mktemp("up") / "geocast-data") as running:
        yield running
