"""Pieces of the OpenAPI document that routes refer to: problems, GeoJSON, bodies read by hand."""

from __future__ import annotations

from typing import Any, Final

from pydantic.json_schema import models_json_schema

from geocast.gateway.problems import PROBLEM
from geocast.gateway.schemas import CloudEvent, ProblemDocument
from geocast.model import MAX_ID

__all__ = ["COMPONENTS", "GEOJSON", "body", "geojson", "problems", "ref"]

GEOJSON: Final = "application/geo+json"
_REASONS: Final = {
    400: "The body cannot be read",
    401: "No token, or one that is not known",
    403: "The account does not have the right",
    404: "Not there, or not yours",
    408: "The body did not come in time",
    409: "Taken already, or would lock you out",
    413: "Too long",
    415: "Not a media type that can be read",
    422: "Understood, but cannot be used",
    429: "Too much a second; the header Retry-After tells when to try again",
    500: "The service failed",
    503: "Not ready, or too busy",
}


def ref(name: str) -> dict[str, Any]:
    """Return a reference to a schema of the document."""
    return {"$ref": f"#/components/schemas/{name}"}


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the declarations of refusals; those that any route may give are added."""
    content = {PROBLEM: {"schema": ref("ProblemDocument")}}
    found = sorted({*statuses, 500})
    return {status: {"description": _REASONS[status], "content": content} for status in found}


def geojson(status: int, text: str, *schemas: str) -> dict[int | str, dict[str, Any]]:
    """Return the declaration of an answer in GeoJSON."""
    return {status: {"description": text, "content": {GEOJSON: {"schema": _either(schemas)}}}}


def body(text: str, media: dict[str, tuple[str, ...]]) -> dict[str, Any]:
    """Return the declaration of a body that the route reads by itself, by media type."""
    content = {
        name: {"schema": _either(schemas) if schemas else {"type": "string"}}
        for name, schemas in media.items()
    }
    return {"requestBody": {"required": True, "description": text, "content": content}}


def _either(schemas: tuple[str, ...]) -> dict[str, Any]:
    return ref(schemas[0]) if len(schemas) == 1 else {"anyOf": [ref(name) for name in schemas]}


def _array(items: dict[str, Any], least: int = 0) -> dict[str, Any]:
    return {"type": "array", "items": items, **({"minItems": least} if least else {})}


_POSITION: Final = ref("Position")
_COORDINATES: Final = {
    "Point": _POSITION,
    "LineString": _array(_POSITION, 2),
    "Polygon": _array(_array(_POSITION, 4), 1),
    "MultiPoint": _array(_POSITION, 1),
    "MultiLineString": _array(_array(_POSITION, 2), 1),
    "MultiPolygon": _array(_array(_array(_POSITION, 4), 1), 1),
}


def _geometry(name: str) -> dict[str, Any]:
    return {
        "type": "object",
        "required": ["type", "coordinates"],
        "properties": {"type": {"const": name}, "coordinates": _COORDINATES[name]},
    }


def _feature(text: str, geometry: dict[str, Any], properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "description": text,
        "type": "object",
        "required": ["type", "geometry"],
        "properties": {
            "type": {"const": "Feature"},
            "id": {
                "anyOf": [
                    {"type": "string", "minLength": 1, "maxLength": MAX_ID},
                    {"type": "number"},
                    {"type": "null"},
                ]
            },
            "geometry": geometry,
            "properties": {"anyOf": [properties, {"type": "null"}]},
        },
    }


def _collection(text: str, items: dict[str, Any]) -> dict[str, Any]:
    return {
        "description": text,
        "type": "object",
        "required": ["type", "features"],
        "properties": {"type": {"const": "FeatureCollection"}, "features": _array(items)},
    }


_NULLABLE_TEXT: Final = {"anyOf": [{"type": "string"}, {"type": "null"}]}


def _page(items: str) -> dict[str, Any]:
    return {
        "type": "object",
        "required": ["type", "features"],
        "properties": {
            "type": {"const": "FeatureCollection"},
            "features": _array(ref(items)),
            "next": _NULLABLE_TEXT,
        },
    }


_ASKED: Final = {
    "type": "object",
    "properties": {
        "predicate": {**_NULLABLE_TEXT, "description": "How a publication relates to the area"},
        "filter": {
            "description": "CQL2 text, or CQL2 JSON",
            "anyOf": [
                {"type": "string"},
                {"type": "object"},
                {"type": "boolean"},
                {"type": "null"},
            ],
        },
        "webhook": {
            "anyOf": [
                {
                    "type": "object",
                    "required": ["url"],
                    "properties": {"url": {"type": "string"}, "secret": _NULLABLE_TEXT},
                },
                {"type": "null"},
            ]
        },
        "topic": {
            "description": "Whether notifications go to your topic in Kafka; answers name it",
            "anyOf": [{"type": "boolean"}, {"type": "string"}, {"type": "null"}],
        },
    },
}
_STATE: Final = {
    "type": "object",
    "required": ["status", "version", "created", "changed", "activated"],
    "properties": {
        "status": {"enum": ["pending", "active", "paused", "cancelled"]},
        "version": {"type": "integer"},
        "created": {"type": "string", "format": "date-time"},
        "changed": {"type": "string", "format": "date-time"},
        "activated": {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]},
    },
}
_TOLD: Final = {
    "type": "object",
    "required": ["type", "id", "geometry", "properties"],
    "properties": {
        "type": {"const": "Feature"},
        "id": {"type": "string"},
        "geometry": {"anyOf": [ref("Geometry"), {"type": "null"}]},
        "properties": {
            "type": "object",
            "required": ["geocast"],
            "properties": {"geocast": _STATE},
        },
    },
}

_EVENT: Final = {
    "type": "object",
    "required": ["type", "id", "geometry", "geocast"],
    "properties": {
        "type": {"const": "Feature"},
        "id": {"type": "string"},
        "geometry": ref("Geometry"),
        "properties": {"anyOf": [{"type": "object"}, {"type": "null"}]},
        "geocast": {
            "description": "Who published it, when, and where it stands in the log",
            "type": "object",
            "required": ["publisher", "time", "partition", "offset"],
            "properties": {
                "publisher": {"type": "string"},
                "time": {"type": "string", "format": "date-time"},
                "partition": {"type": "integer"},
                "offset": {"type": "integer"},
            },
        },
    },
}

_MODELS: Final = models_json_schema(
    [(ProblemDocument, "serialization"), (CloudEvent, "serialization")],
    ref_template="#/components/schemas/{model}",
)[1]["$defs"]

COMPONENTS: Final[dict[str, Any]] = {
    **_MODELS,
    "Position": {
        "description": "Longitude and latitude on WGS 84",
        **_array({"type": "number"}, 2),
    },
    **{name: _geometry(name) for name in _COORDINATES},
    "Geometry": {"anyOf": [ref(name) for name in _COORDINATES]},
    "Publication": _feature(
        "An event; its properties are yours", ref("Geometry"), {"type": "object"}
    ),
    "Publications": _collection("Events; each is accepted or rejected by itself", {}),
    "SubscriptionRequest": _feature(
        "An area, a filter, or both; other properties are kept",
        {"anyOf": [ref("Geometry"), {"type": "null"}]},
        _ASKED,
    ),
    "SubscriptionRequests": _collection(
        "Subscriptions; all are made or none", ref("SubscriptionRequest")
    ),
    "Subscription": _TOLD,
    "Subscriptions": _page("Subscription"),
    "Event": _EVENT,
    "Events": _page("Event"),
    "EventsMessage": {
        "description": "What came since the message before, and how much more there was",
        "type": "object",
        "required": ["features", "skipped"],
        "properties": {"features": _array(ref("Event")), "skipped": {"type": "integer"}},
    },
}
"""Schemas of the document that no route declares by a model."""
