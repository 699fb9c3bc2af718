"""The gateway as an ASGI application."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import Response

from geocast.gateway import (
    admin,
    event_stream,
    events,
    health,
    links,
    notifications,
    own,
    preview,
    publications,
    session,
    stream,
    subscriptions,
    web,
)
from geocast.gateway.answers import Json
from geocast.gateway.assets import STATIC
from geocast.gateway.asyncapi import asyncapi
from geocast.gateway.auth import TokenFromQuery
from geocast.gateway.documents import COMPONENTS
from geocast.gateway.headers import SafeHeaders
from geocast.gateway.limits import BodyLimit
from geocast.gateway.parts import Parts
from geocast.gateway.problems import Failures, install_problems
from geocast.log import Log
from geocast.operate import Settings
from geocast.repository import Repository

__all__ = ["create_app"]

_ROOMS: Final = (
    publications,
    preview,
    subscriptions,
    notifications,
    stream,
    events,
    event_stream,
    session,
    links,
    own,
    admin,
    health,
    web,
)


def create_app(
    repository: Repository,
    log: Log,
    settings: Settings,
    pipeline_ready: Callable[[], bool] = lambda: True,
    static: Path = STATIC,
) -> FastAPI:
    """Return the application that serves a repository and a log of publications.

    `pipeline_ready` tells /readyz whether publications are being matched; `static` has the files
    of the web client. The application closes neither the repository nor the log.
    """
    parts = Parts.of(repository, log, settings, pipeline_ready, static)
    app = FastAPI(
        title="Geocast",
        version=version("geocast"),
        description="Publish/subscribe by place: every event reaches the subscribers it concerns.",
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
        middleware=_middleware(settings),
        lifespan=_lifespan,
    )
    app.state.parts = parts
    install_problems(app)
    for room in _ROOMS:
        app.include_router(room.router)
    _add_documents(app)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    yield
    await app.state.parts.close()


def _middleware(settings: Settings) -> list[Middleware]:
    """Return the middleware, outermost first."""
    found = [Middleware(SafeHeaders), Middleware(TokenFromQuery)]
    origins = [origin.strip() for origin in settings.cors_origins.split(",") if origin.strip()]
    if origins:
        cors: Any = Middleware(
            CORSMiddleware,
            allow_origins=origins,
            allow_methods=["GET", "POST", "PUT", "DELETE"],
            allow_headers=["Authorization", "Content-Type", "Last-Event-ID"],
            expose_headers=["Location", "Retry-After"],
        )
        found.append(cors)
    return [*found, Middleware(Failures), Middleware(BodyLimit, max_body=settings.max_body)]


def _add_documents(app: FastAPI) -> None:
    """Serve the OpenAPI and the AsyncAPI document; they do not describe themselves."""

    async def openapi_document() -> Response:
        return Json(app.openapi())

    async def asyncapi_document() -> Response:
        return Json(asyncapi(app.version))

    app.add_api_route("/openapi.json", openapi_document, include_in_schema=False)
    app.add_api_route("/asyncapi.json", asyncapi_document, include_in_schema=False)
    app.openapi = partial(_openapi, app)  # type: ignore[method-assign]


def _openapi(app: FastAPI) -> dict[str, Any]:
    if app.openapi_schema is None:
        found = get_openapi(
            title=app.title, version=app.version, description=app.description, routes=app.routes
        )
        schemas = found.setdefault("components", {}).setdefault("schemas", {})
        found["components"]["schemas"] = {**COMPONENTS, **schemas}
        app.openapi_schema = found
    return app.openapi_schema
