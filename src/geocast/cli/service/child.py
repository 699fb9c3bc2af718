"""A process that is kept running."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Final

from geocast.errors import GeocastError
from geocast.operate import die_with_parent

__all__ = ["Child"]

_STOP_SECONDS: Final = 30.0
_STEADY_SECONDS: Final = 30.0
_JOURNAL_BYTES: Final = 50_000_000
_WAITS: Final = (0.0, 0.5, 1.0, 2.0, 5.0)
"""How long to wait before each further start of a process that dies again and again."""


class Child:
    """One process of the service; what it says goes into a file of the journal.

    `environment` is added to that of this process: nobody else can see it, as they can a command.
    """

    def __init__(
        self,
        name: str,
        command: list[str],
        journal: Path,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.name = name
        self._command = command
        self._environment = {**os.environ, **(environment or {})}
        self._file = journal / f"{name}.log"
        self._process: subprocess.Popen[bytes] | None = None
        self._started = 0.0
        self._deaths = 0
        self._due: float | None = None

    def start(self) -> None:
        """Start the process."""
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with self._file.open("ab") as journal:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=journal,
                stderr=journal,
                env=self._environment,
                start_new_session=True,
                preexec_fn=partial(die_with_parent, os.getpid()),
            )
        self._started = time.monotonic()
        self._due = None

    def check(self) -> None:
        """Raise GeocastError where the process has ended by itself; if it was killed, revive it."""
        assert self._process is not None, "not started"
        status = self._process.poll()
        if status is not None and status >= 0:
            raise GeocastError(
                f"the process {self.name} ended ({_ending(status)}): {self._last_words()}"
            )
        self.revive()

    def revive(self) -> None:
        """Start the process again if it has died, ever more slowly if that happens soon."""
        assert self._process is not None, "not started"
        now = time.monotonic()
        if self._due is not None:
            if now >= self._due:
                self.start()
            return
        status = self._process.poll()
        if status is None:
            return
        self._deaths = 0 if now - self._started > _STEADY_SECONDS else self._deaths + 1
        self._due = now + _WAITS[min(self._deaths, len(_WAITS) - 1)]
        words = f": {self._last_words()}" if status > 0 else ""
        ended = f"the process {self.name} ended ({_ending(status)})"
        print(f"{ended}; starting it again{words}", file=sys.stderr)

    def trim_journal(self) -> None:
        """Move what the process said to another file once it is long; the process writes on."""
        if self._file.stat().st_size > _JOURNAL_BYTES:
            shutil.copyfile(self._file, self._file.with_suffix(".log.1"))
            os.truncate(self._file, 0)

    def stop(self) -> None:
        """Ask the process to end, and end it where it does not."""
        if self._process is None or self._process.poll() is not None:
            return
        self._process.terminate()
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            print(f"the process {self.name} does not stop; killing it", file=sys.stderr)
            self._process.kill()
            self._process.wait()

    def _last_words(self) -> str:
        lines = self._file.read_text(errors="replace").split("\n")
        said = [line for line in lines if line.strip()]
        return f"{said[-1][-500:] if said else 'it said nothing'} (see {self._file})"


def _ending(status: int) -> str:
    return f"signal {-status}" if status < 0 else f"status {status}"
