from __future__ import annotations

import pytest

from tests.client.both import KINDS


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    """Which client: the synchronous or the asynchronous one."""
    name: str = request.param
    return name
