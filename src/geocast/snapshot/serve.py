"""Snapshots for other machines: the files of a directory of snapshots, over HTTP.

    GET /versions/<v>.json, /tombstones/<v>.npy   the file
    GET /parts/<name>                             what files it has, and their sizes, as JSON
    GET /parts/<name>/<file>                      the file

Whoever asks must know the token, which travels with the tasks of the job.
"""

from __future__ import annotations

import hmac
import json
import logging
import secrets
import threading
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import unquote

from geocast.errors import InputError
from geocast.snapshot.layout import Layout

__all__ = ["TOKEN_HEADER", "SnapshotServer"]

TOKEN_HEADER: Final = "X-Geocast-Token"

_IDLE_SECONDS: Final = 60.0
_log: Final = logging.getLogger(__name__)


class SnapshotServer:
    """Serves a directory of snapshots while the block lasts that it is used for.

    `host` and `port` are where it listens; port 0 is any that is free.
    """

    def __init__(self, directory: Path, host: str, port: int = 0) -> None:
        self.token = secrets.token_urlsafe(32)
        handler = partial(_Answer, Path(directory), self.token)
        try:
            self._server = _Server((host, port), handler)
        except OSError as error:
            raise InputError(
                f"snapshots cannot be served on {host} port {port}: {error.strerror}"
            ) from None
        self._thread = threading.Thread(
            target=self._server.serve_forever, name="snapshot-server", daemon=True
        )

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return int(self._server.server_address[1])

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Note what went wrong; who was cut off asks again."""
        _log.info("a snapshot was not sent to the end to %s", client_address[0], exc_info=True)


class _Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = _IDLE_SECONDS

    def __init__(self, directory: Path, token: str, *connection: Any) -> None:
        self._directory = directory
        self._token = token.encode()
        super().__init__(*connection)

    def do_GET(self) -> None:
        given = self.headers.get(TOKEN_HEADER, "").encode(errors="replace")
        if not hmac.compare_digest(given, self._token):
            self._refuse(HTTPStatus.FORBIDDEN)
            return
        path = self._file()
        if path is None:
            self._refuse(HTTPStatus.NOT_FOUND)
        elif path.is_dir():
            files = [file for file in sorted(path.rglob("*")) if file.is_file()]
            sizes = {str(file.relative_to(path)): file.stat().st_size for file in files}
            content = json.dumps(sizes).encode()
            self._begin(len(content))
            self.wfile.write(content)
        else:
            self._send(path)

    def _file(self) -> Path | None:
        """Return what is asked for, if it is a part, a version or a list of tombstones."""
        layout = Layout(self._directory)
        path = (self._directory / unquote(self.path).lstrip("/")).resolve()
        rooms = (layout.parts, layout.versions, layout.tombstones)
        inside = any(room.resolve() in path.parents for room in rooms)
        return path if inside and path.exists() else None

    def _send(self, path: Path) -> None:
        try:
            with path.open("rb") as file:
                self._begin(path.stat().st_size)
                self.wfile.flush()
                self.connection.sendfile(file)
        except FileNotFoundError:
            self._refuse(HTTPStatus.NOT_FOUND)

    def _begin(self, length: int) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Length", str(length))
        self.end_headers()

    def _refuse(self, status: HTTPStatus) -> None:
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args: Any) -> None:
        """Say nothing of what goes well."""
