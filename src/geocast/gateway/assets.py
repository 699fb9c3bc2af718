"""Files that do not change while a gateway runs: read once, compressed once."""

from __future__ import annotations

import gzip
import hashlib
import re
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Final

__all__ = ["STATIC", "Asset", "Assets"]

STATIC: Final = Path(__file__).parents[1] / "static"
"""Where the build of the web client puts its files."""

_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".mjs": "text/javascript; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".wasm": "application/wasm",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}
_PACKED: Final = (".ico", ".png", ".woff2")
_HASHED: Final = re.compile(r".+-[A-Za-z0-9_-]{8}\.[a-z0-9.]+")


@dataclass(frozen=True, slots=True)
class Asset:
    """A file: what it is, its bytes, and those compressed where that saves something.

    `lasting` says that its name changes with its content.
    """

    media: str
    content: bytes
    packed: bytes | None
    tag: str
    lasting: bool


class Assets:
    """The files of a folder by their names; one that is written anew is read anew."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._kept: dict[Path, tuple[int, Asset]] = {}

    def get(self, name: str) -> Asset | None:
        """Return a file; None if there is none of that name, or it is of no known kind."""
        path = self._folder / name
        media = _TYPES.get(path.suffix)
        if media is None or ".." in path.parts or "\0" in name or not path.is_file():
            return None
        with self._lock:
            changed = path.stat().st_mtime_ns
            at, asset = self._kept.get(path, (None, None))
            if asset is None or at != changed:
                asset = _asset(path, media)
                self._kept[path] = (changed, asset)
            return asset


def _asset(path: Path, media: str) -> Asset:
    content = path.read_bytes()
    packed = None if path.suffix in _PACKED else gzip.compress(content, 9, mtime=0)
    tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    smaller = packed if packed is not None and len(packed) < len(content) else None
    return Asset(media, content, smaller, tag, _HASHED.fullmatch(path.name) is not None)
