"""The AsyncAPI document: what goes over the streams, the session and to webhooks."""

from __future__ import annotations

from typing import Any, Final

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from geocast.gateway.messages import (
    Ack,
    Connect,
    Ping,
    Publish,
    Subscribe,
    Unpublish,
    Unsubscribe,
)
from geocast.gateway.schemas import CloudEvent, ProblemDocument, Receipt

__all__ = ["asyncapi"]

_ASKED: Final[tuple[type[BaseModel], ...]] = (
    Connect,
    Subscribe,
    Unsubscribe,
    Publish,
    Unpublish,
    Ack,
    Ping,
)
_TEXT: Final = {"type": "string"}
_WHOLE: Final = {"type": "integer"}
_EVENTS: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["features", "skipped"],
    "properties": {
        "features": {"type": "array", "items": {"type": "object"}},
        "skipped": {"type": "integer", "description": "How many more there were"},
    },
}
_ANSWERED: Final[dict[str, dict[str, Any]]] = {
    "connected": {"account": _TEXT, "after": _WHOLE},
    "subscribed": {"feature": {"type": "object"}},
    "unsubscribed": {"id": _TEXT},
    "published": {"receipt": {"$ref": "#/components/schemas/Receipt"}},
    "unpublished": {
        "id": _TEXT,
        "known": {"type": "boolean"},
        "removed": _WHOLE,
        "notices": _WHOLE,
    },
    "acknowledged": {"acknowledged": _WHOLE},
    "pong": {},
    "notify": {
        "cursor": _WHOLE,
        "notifications": {
            "type": "array",
            "items": {"$ref": "#/components/schemas/CloudEvent"},
        },
    },
    "problem": {"problem": {"$ref": "#/components/schemas/ProblemDocument"}},
}


def asyncapi(version: str) -> dict[str, Any]:
    """Return the document, AsyncAPI 3.0."""
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "Geocast",
            "version": version,
            "description": "Notifications as they come. Requests and answers: /openapi.json.",
        },
        "defaultContentType": "application/json",
        "channels": _channels(),
        "operations": _operations(),
        "components": {
            "schemas": _schemas(),
            "messages": {
                **{_name(model): _asked(model) for model in _ASKED},
                **{name: _answered(name) for name in _ANSWERED},
                "cloudevent": {
                    "contentType": "application/cloudevents+json",
                    "payload": {"$ref": "#/components/schemas/CloudEvent"},
                },
                "events": {"payload": _EVENTS},
            },
        },
    }


def _name(model: type[BaseModel]) -> str:
    return model.__name__.lower()


def _channels() -> dict[str, Any]:
    names = [*map(_name, _ASKED), *_ANSWERED]
    return {
        "stream": {
            "address": "/v1/stream",
            "description": "Server-sent events: id is the cursor, data the CloudEvent; event is "
            "match or withdrawal. Last-Event-ID resumes.",
            "messages": {"cloudevent": _message("cloudevent")},
        },
        "events": {
            "address": "/v1/events/stream",
            "description": "Server-sent events: event is events, data is what was published since "
            "the one before; Last-Event-ID, their id, resumes.",
            "messages": {"events": _message("events")},
        },
        "session": {
            "address": "/v1/session",
            "description": "A WebSocket with JSON messages both ways. Every message of the client "
            "gets one answer, with the same ref.",
            "messages": {name: _message(name) for name in names},
        },
        "webhook": {
            "address": None,
            "description": "POST to the URL of a subscription's webhook, signed by the rules of "
            "Standard Webhooks.",
            "messages": {"cloudevent": _message("cloudevent")},
        },
    }


def _operations() -> dict[str, Any]:
    return {
        "stream": _operation("send", "stream", ["cloudevent"]),
        "show": _operation("send", "events", ["events"]),
        "ask": _operation("receive", "session", [_name(model) for model in _ASKED]),
        "tell": _operation("send", "session", list(_ANSWERED)),
        "post": _operation("send", "webhook", ["cloudevent"]),
    }


def _operation(action: str, channel: str, names: list[str]) -> dict[str, Any]:
    return {
        "action": action,
        "channel": {"$ref": f"#/channels/{channel}"},
        "messages": [{"$ref": f"#/channels/{channel}/messages/{name}"} for name in names],
    }


def _message(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/messages/{name}"}


def _asked(model: type[BaseModel]) -> dict[str, Any]:
    return {"payload": {"$ref": f"#/components/schemas/{model.__name__}"}}


def _answered(name: str) -> dict[str, Any]:
    properties = {"type": {"const": name}, **_ANSWERED[name]}
    if name != "notify":
        properties["ref"] = {"description": "As in the message that is answered"}
    required = ["type", *_ANSWERED[name]]
    return {"payload": {"type": "object", "required": required, "properties": properties}}


def _schemas() -> dict[str, Any]:
    told = (CloudEvent, ProblemDocument, Receipt)
    modes: list[Any] = [
        *((model, "validation") for model in _ASKED),
        *((model, "serialization") for model in told),
    ]
    found: dict[str, Any] = models_json_schema(modes, ref_template="#/components/schemas/{model}")[
        1
    ]["$defs"]
    return found
