"""What a gateway answers while its database cannot be reached."""

from __future__ import annotations

import httpx
import pytest

from geocast.errors import UnavailableError
from tests.gateway.served import Served


@pytest.mark.parametrize(("undone", "status"), [(True, 503), (False, 504)])
def test_whether_it_was_done_is_told_apart(
    served: Served, alice: httpx.Client, monkeypatch: pytest.MonkeyPatch, undone: bool, status: int
) -> None:
    def fail(account: int) -> int:
        raise UnavailableError("the repository u:word@h cannot be used now", undone=undone)

    monkeypatch.setattr(served.repository.mailbox, "depth", fail)
    answer = alice.get("/v1/me")
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert ("retry-after" in answer.headers) == undone
    assert "word" not in answer.text
