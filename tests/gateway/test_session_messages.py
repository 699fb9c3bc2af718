"""Whatever a client says in a session is answered, and the session goes on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from websockets.sync.client import ClientConnection, connect

from tests.gateway.served import Served, point, square

ANSWERS = {
    "connected",
    "subscribed",
    "unsubscribed",
    "published",
    "unpublished",
    "acknowledged",
    "pong",
    "problem",
}
TYPES = ["connect", "subscribe", "unsubscribe", "publish", "unpublish", "ack", "ping"]

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text("abc", max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)
coordinates = st.recursive(st.floats(-200, 200) | scalars, lambda x: st.lists(x, max_size=5))
geometries = values | st.fixed_dictionaries(
    {"type": st.sampled_from(["Point", "LineString", "Polygon", "MultiPolygon", "Circle"])},
    optional={"coordinates": coordinates},
)
features = (
    st.sampled_from([point(), square(), square(filter="a > 1"), square(predicate="x")])
    | values
    | st.fixed_dictionaries(
        {"type": st.sampled_from(["Feature", "FeatureCollection"]) | values},
        optional={
            "id": values,
            "geometry": geometries,
            "properties": values
            | st.fixed_dictionaries(
                {},
                optional={
                    "filter": values | st.text(max_size=30),
                    "predicate": values | st.sampled_from(["within", "disjoint"]),
                    "webhook": values | st.fixed_dictionaries({"url": values}),
                },
            ),
        },
    )
)
messages = values | st.fixed_dictionaries(
    {"type": st.sampled_from(TYPES) | values},
    optional={
        "ref": values,
        "id": values,
        "feature": features,
        "through": values,
        "subscription": values,
        "after": values,
        "cursors": values,
    },
)
texts = (
    messages.map(lambda message: orjson.dumps(message).decode())
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=50)
    | st.binary(max_size=50)
)


@pytest.fixture
def socket(served: Served) -> Iterator[ClientConnection]:
    address = served.url.replace("http", "ws") + "/v1/session"
    headers = {"Authorization": f"Bearer {served.token('alice')}"}
    with connect(address, additional_headers=headers, proxy=None) as found:
        yield found


def answer(socket: ClientConnection, text: str | bytes) -> dict[str, Any]:
    socket.send(text)
    found: dict[str, Any] = orjson.loads(socket.recv(timeout=20))
    return found


@settings(
    max_examples=300,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(text=texts)
def test_every_message_is_answered(socket: ClientConnection, text: str | bytes) -> None:
    found = answer(socket, text)
    assert found["type"] in ANSWERS
    if found["type"] == "problem":
        assert 400 <= found["problem"]["status"] < 500, found
    assert answer(socket, '{"type":"ping","ref":5}') == {"type": "pong", "ref": 5}
