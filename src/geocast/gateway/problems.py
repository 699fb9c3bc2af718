"""Refusals as RFC 9457 problem documents, whatever refused: a route, a check, a limit, a fault."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final

import orjson
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from geocast.errors import ConflictError, InputError, UnavailableError

__all__ = ["PROBLEM", "Failures", "Problem", "document", "install_problems", "problem_of"]

PROBLEM: Final = "application/problem+json"
"""The media type of a problem document."""

_journal = logging.getLogger(__name__)
_Errors = Sequence[Mapping[str, Any]]


class Problem(HTTPException):
    """A request is refused; `detail` tells its sender why, `errors` which parts of it are bad.

    `position` is the character of a filter's text at which the trouble begins.
    """

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        errors: _Errors = (),
        headers: Mapping[str, str] | None = None,
        position: int | None = None,
    ) -> None:
        super().__init__(status, detail, headers)
        self.errors = errors
        self.position = position


def document(problem: Problem, instance: str | None = None) -> dict[str, Any]:
    """Return the problem document; `instance` is the path that was asked for."""
    found: dict[str, Any] = {
        "type": "about:blank",
        "title": HTTPStatus(problem.status_code).phrase,
        "status": problem.status_code,
        "detail": problem.detail,
    }
    if instance is not None:
        found["instance"] = instance
    if problem.position is not None:
        found["position"] = problem.position
    if problem.errors:
        found["errors"] = list(problem.errors)
    return found


def problem_of(error: Exception) -> Problem | None:
    """Return the problem that an error is to the one who asked; None if it is our own fault."""
    match error:
        case Problem():
            return error
        case ConflictError():
            return Problem(409, str(error))
        case InputError():
            return Problem(422, str(error))
        case UnavailableError():
            return _unavailable(error)
        case RequestValidationError():
            return _invalid(error)
        case HTTPException(status_code=404):
            return Problem(404, "there is nothing here; /openapi.json tells what there is")
        case HTTPException(status_code=405):
            return Problem(405, "this method cannot be used here", headers=error.headers)
        case HTTPException():
            return Problem(error.status_code, error.detail, headers=error.headers)
    return None


def install_problems(app: FastAPI) -> None:
    """Answer every refusal with a problem document."""
    refusals = (HTTPException, RequestValidationError, ConflictError, InputError, UnavailableError)
    for kind in refusals:
        app.add_exception_handler(kind, _refuse)


class Failures:
    """ASGI middleware that answers what nobody expected with a problem document, too."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; a failure is written to the journal."""
        begun = False

        async def watched(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except ClientDisconnect:
            _journal.debug("%s left before its request was complete", scope.get("client"))
        except Exception as error:
            if begun or scope["type"] != "http":
                raise
            _journal.error("failed: %s %s", scope["method"], scope["path"], exc_info=error)
            failure = Problem(500, "the service failed; its journal tells more")
            await _response(Request(scope), failure)(scope, receive, send)


async def _refuse(request: HTTPConnection, error: Exception) -> Response:
    problem = problem_of(error)
    assert problem is not None, error
    return _response(request, problem)


def _response(request: HTTPConnection, problem: Problem) -> Response:
    body = orjson.dumps(document(problem, request.url.path))
    return Response(body, problem.status_code, dict(problem.headers or {}), PROBLEM)


def _unavailable(error: UnavailableError) -> Problem:
    """What it is to one who asked: nothing was done (503), or nobody knows (504)."""
    _journal.warning("%s", error)
    if error.undone:
        detail = "the service cannot reach its database now; nothing was done, ask again"
        return Problem(503, detail, headers={"Retry-After": "1"})
    return Problem(504, "the answer of the database was lost: this may have been done, or not")


def _invalid(error: RequestValidationError) -> Problem:
    faults = [
        {"where": ".".join(map(str, fault["loc"])), "reason": fault["msg"]}
        for fault in error.errors()
    ]
    broken = any(fault["type"] == "json_invalid" for fault in error.errors())
    first = f"{faults[0]['where']}: {faults[0]['reason']}"
    return Problem(400 if broken else 422, first, errors=faults)
