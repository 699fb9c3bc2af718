"""The text of a CloudEvent, whatever it tells of."""

from __future__ import annotations

import orjson
import pytest

from geocast.model import Kind, Notification, cloud_event

FEATURE = b'{"type":"Feature","id":"a","geometry":null,"properties":{"x":"}}"}}'


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize("name", ["plain", 'quo"te', "}}", "\\", "ü\u2028"])
def test_everything_is_in_it(kind: Kind, name: str) -> None:
    feature = FEATURE if kind is Kind.MATCH else b""
    text = cloud_event(
        Notification(7, "m1", kind, name, 2, "press", name, 1_000_000, 2_500_000, feature)
    )
    event = orjson.loads(text)
    data = event.pop("data")
    assert event == {
        "specversion": "1.0",
        "id": "m1" if kind is Kind.MATCH else "m1-withdrawn",
        "source": "/accounts/press",
        "type": "geocast.match.v1" if kind is Kind.MATCH else "geocast.withdrawal.v1",
        "subject": name,
        "time": "1970-01-01T00:00:01.000000Z",
        "datacontenttype": "application/json",
        "geocastcursor": 7,
    }
    told = {"feature": orjson.loads(FEATURE)} if kind is Kind.MATCH else {}
    assert data == {
        "subscription": name,
        "version": 2,
        "publication": name,
        "match": "m1",
        "notified": "1970-01-01T00:00:02.500000Z",
        **told,
    }
    assert (FEATURE in text) is (kind is Kind.MATCH)
