"""Structured logs: a JSON object a line, so that machines and people can read them."""

from __future__ import annotations

import contextlib
import faulthandler
import logging
import sys
from typing import Any, Final, TextIO

import orjson

from geocast.model import to_rfc3339

__all__ = ["open_journal"]

_KNOWN: Final = frozenset(vars(logging.makeLogRecord({}))) | {"message", "taskName"}


class _Lines(logging.Formatter):
    """Writes time, level, process, logger, message, and whatever `extra` was given."""

    def __init__(self, process: str) -> None:
        super().__init__()
        self._process = process

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": to_rfc3339(int(record.created * 1_000_000)),
            "level": record.levelname.lower(),
            "process": self._process,
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= {name: value for name, value in vars(record).items() if name not in _KNOWN}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return orjson.dumps(line, default=str).decode()


def open_journal(process: str, stream: TextIO | None = None) -> None:
    """Send what this process logs, from INFO up, to `stream` (standard error if None).

    There it also tells what its threads were doing when a library takes the process down, in plain
    lines.
    """
    if stream is None and sys.__stderr__ is not None:
        # Standard error may be closed, or be no file.
        with contextlib.suppress(OSError, ValueError, RuntimeError):
            faulthandler.enable(sys.__stderr__)
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(_Lines(process))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.INFO)
    for noisy in ("py4j", "httpx", "httpcore", "alembic", "uvicorn.access"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
