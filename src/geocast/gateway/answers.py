"""Answers that are JSON already, or become it in one step."""

from __future__ import annotations

from typing import Any

import orjson
from starlette.responses import JSONResponse

__all__ = ["GeoJson", "Json"]


class Json(JSONResponse):
    """A JSON answer, given as a value or as its text."""

    def render(self, content: Any) -> bytes:
        """Return the text of the answer."""
        return content if isinstance(content, bytes) else orjson.dumps(content)


class GeoJson(Json):
    """A GeoJSON answer."""

    media_type = "application/geo+json"
