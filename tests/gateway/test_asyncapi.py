"""Every message of a session is one that the AsyncAPI document describes."""

from __future__ import annotations

from typing import Any

import httpx
import jsonschema_rs
import orjson

from tests.gateway.served import Served, point, square
from tests.gateway.test_session import session

ASKED: list[dict[str, Any]] = [
    {"type": "ping", "ref": 1},
    {"type": "subscribe", "feature": square("s"), "ref": "mine"},
    {"type": "connect"},
    {"type": "publish", "feature": point(id="p"), "ref": 2.5},
    {"type": "unpublish", "id": "p"},
    {"type": "ack", "through": 0},
    {"type": "unsubscribe", "id": "s"},
]
REFUSED: list[Any] = [
    [],
    {"type": "nonsense"},
    {"type": "ack", "through": -1},
    {"type": "publish", "feature": point(200, 0)},
    {"type": "subscribe", "feature": {"type": "Feature", "geometry": None, "properties": {}}},
    {"type": "unsubscribe", "id": "nothing"},
]


def closed(schema: Any) -> Any:
    """Return a schema that allows only the properties that it names."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    found = {name: closed(value) for name, value in schema.items()}
    named = isinstance(schema.get("properties"), dict)
    return {**found, "additionalProperties": False} if named else found


def test_what_a_session_says_is_described(served: Served, nobody: httpx.Client) -> None:
    components = closed(nobody.get("/asyncapi.json").json()["components"])
    messages = components["messages"]
    seen: set[str] = set()

    def check(message: dict[str, Any]) -> None:
        schema = {**messages[message["type"]]["payload"], "components": components}
        jsonschema_rs.validator_for(schema).validate(message)
        seen.add(message["type"])

    with session(served) as socket:

        def told() -> dict[str, Any]:
            found: dict[str, Any] = orjson.loads(socket.recv(timeout=10))
            check(found)
            return found

        for message in ASKED:
            check(message)
            socket.send(orjson.dumps(message).decode())
            assert told()["type"] != "problem"
            if message["type"] == "connect":
                served.deliver([("m", ["s"])])
                assert told()["type"] == "notify"
        for value in REFUSED:
            socket.send(orjson.dumps(value).decode())
            assert told()["type"] == "problem"
    assert seen == set(messages) - {"cloudevent", "events"}


def test_what_the_stream_of_events_says_is_described(
    served: Served, alice: httpx.Client, nobody: httpx.Client
) -> None:
    alice.post("/v1/publications", json=point(id="p"))
    asyncapi, openapi = (nobody.get(f"/{name}.json").json() for name in ("asyncapi", "openapi"))
    schemas = [
        closed(asyncapi["components"]["messages"]["events"]["payload"]),
        {"$ref": "#/components/schemas/EventsMessage", "components": openapi["components"]},
    ]
    with alice.stream("GET", "/v1/events/stream", headers={"Last-Event-ID": "0-0"}) as answer:
        line = next(line for line in answer.iter_lines() if line.startswith("data: "))
    message = orjson.loads(line.removeprefix("data: "))
    assert message["features"]
    for schema in schemas:
        jsonschema_rs.validator_for(schema).validate(message)
