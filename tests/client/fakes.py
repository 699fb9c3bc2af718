"""Services made of one function."""

from __future__ import annotations

from typing import Any

import httpx
import orjson

__all__ = ["POINT", "TIME", "FakeLog", "problem"]

POINT = {"type": "Point", "coordinates": [1, 2]}
TIME = "2026-11-16T05:00:00.000000Z"


class FakeLog:
    """Accepts publications; `mishaps` are answers, or errors after the request arrived."""

    def __init__(self, *mishaps: Any, most: int = 1 << 20) -> None:
        self.mishaps = list(mishaps)
        self.most = most
        self.ids: list[str] = []
        self.requests: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        if len(request.content) > self.most:
            return problem(413, "the body is too long")
        mishap = self.mishaps.pop(0) if self.mishaps else None
        if isinstance(mishap, httpx.Response):
            return mishap
        if isinstance(mishap, httpx.ConnectError):
            raise mishap
        answer = self.accept(request)
        if isinstance(mishap, Exception):
            raise mishap
        return answer

    def accept(self, request: httpx.Request) -> httpx.Response:
        sequence = request.headers["content-type"] == "application/geo+json-seq"
        texts = request.content.split(b"\x1e")[1:] if sequence else [request.content]
        accepted, rejected = [], []
        for index, text in enumerate(texts):
            feature = orjson.loads(text)
            if feature["properties"].get("bad"):
                rejected.append({"index": index, "id": feature["id"], "reason": "it is bad"})
            else:
                accepted.append(self.receipt(feature["id"]))
        if not accepted:
            return problem(422, "nothing can be used", errors=rejected)
        return httpx.Response(202, json={"accepted": accepted, "rejected": rejected})

    def receipt(self, identifier: str) -> dict[str, Any]:
        known = identifier in self.ids
        if not known:
            self.ids.append(identifier)
        place = {"partition": 0, "offset": self.ids.index(identifier), "time": TIME}
        return {"id": identifier, "duplicate": known, **place}


def problem(status: int, detail: str, **more: Any) -> httpx.Response:
    return httpx.Response(status, json={"status": status, "detail": detail, **more})
