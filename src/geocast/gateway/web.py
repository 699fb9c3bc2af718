"""Routes of the web client: the files that its build made, and what it has to know."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlsplit

from fastapi import APIRouter, Request
from starlette.responses import PlainTextResponse, Response

from geocast.gateway.assets import Asset
from geocast.gateway.documents import problems
from geocast.gateway.event_schemas import WebClient
from geocast.gateway.parts import parts_of
from geocast.gateway.problems import Problem
from geocast.operate import Settings

__all__ = ["policy", "router"]

router: Final = APIRouter(tags=["web"])

_ROOT_FILES: Final = ("favicon.svg", "manifest.webmanifest")
_FOREVER: Final = "public, max-age=31536000, immutable"
_NOT_BUILT: Final = (
    "The web client is not built. In the source tree, `make web` builds it; the packages that are "
    "distributed have it.\nThe service itself runs: /openapi.json tells what it can do.\n"
)


def policy(settings: Settings) -> str:
    """Return the content security policy of the page: nothing from elsewhere but map tiles."""
    tiles = urlsplit(settings.tiles_url)
    host = f" {tiles.scheme}://{tiles.netloc}" if settings.tiles_url else ""
    return "; ".join(
        [
            "default-src 'none'",
            "script-src 'self'",
            "worker-src 'self'",
            "style-src 'self'",
            f"img-src 'self' data: blob:{host}",
            f"connect-src 'self'{host}",
            "font-src 'self'",
            "manifest-src 'self'",
            "form-action 'none'",
            "frame-ancestors 'none'",
            "base-uri 'none'",
        ]
    )


@router.get("/", include_in_schema=False)
async def get_page(request: Request) -> Response:
    """Return the page of the web client."""
    parts = parts_of(request)
    found = await parts.ask(parts.assets.get, "index.html")
    if found is None:
        return PlainTextResponse(_NOT_BUILT, 503)
    return _response(request, found)


async def get_file(request: Request) -> Response:
    """Return a file of the web client."""
    parts = parts_of(request)
    found = await parts.ask(parts.assets.get, request.url.path.removeprefix("/"))
    if found is None:
        raise Problem(404, "there is nothing here; / is the map")
    return _response(request, found)


router.add_api_route("/assets/{name:path}", get_file, include_in_schema=False)
for _name in _ROOT_FILES:
    router.add_api_route(f"/{_name}", get_file, include_in_schema=False)


def _response(request: Request, asset: Asset) -> Response:
    headers = {
        "Cache-Control": _FOREVER if asset.lasting else "no-cache",
        "Content-Security-Policy": policy(parts_of(request).settings),
        "ETag": asset.tag,
        "Vary": "Accept-Encoding",
    }
    if request.headers.get("if-none-match") == asset.tag:
        return Response(status_code=304, headers=headers)
    content = asset.content
    if asset.packed is not None and "gzip" in request.headers.get("accept-encoding", ""):
        headers["Content-Encoding"] = "gzip"
        content = asset.packed
    return Response(content, headers=headers, media_type=asset.media)


@router.get("/v1/client", response_model=WebClient, responses=problems())
async def get_client(request: Request) -> Any:
    """Tell what the web client has to know before anybody signs in; needs no token."""
    settings = parts_of(request).settings
    tiles = {"url": settings.tiles_url, "attribution": settings.tiles_attribution}
    return {"version": request.app.version, "tiles": tiles if settings.tiles_url else None}
