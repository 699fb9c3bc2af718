"""How far a command is, on standard error: bars on a terminal, else a line a step."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

__all__ = ["Step", "Steps", "open_steps"]


class Step(Protocol):
    """One step of a command."""

    def update(self, done: int, note: str | None = None) -> None:
        """Say how much is done, out of the step's total, and what that amounts to."""
        ...


class Steps(Protocol):
    """The steps of a command, one after the other."""

    def step(self, title: str, total: int | None = None) -> AbstractContextManager[Step]:
        """Begin a step; without a total, it is not known how long it will take."""
        ...


@contextmanager
def open_steps() -> Iterator[Steps]:
    """Give what suits standard error, for the length of the `with` block."""
    if not sys.stderr.isatty():
        yield _Lines()
        return
    columns = (
        SpinnerColumn(finished_text="[green]✓"),
        TextColumn("{task.description:<24}"),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("[dim]{task.fields[note]}"),
    )
    with Progress(*columns, console=Console(stderr=True)) as display:
        yield _Bars(display)


class _Bar:
    def __init__(self, display: Progress, task: TaskID) -> None:
        self._display, self._task, self._note = display, task, ""

    def update(self, done: int, note: str | None = None) -> None:
        self._note = self._note if note is None else note
        self._display.update(self._task, completed=done, note=self._note)


class _Bars:
    def __init__(self, display: Progress) -> None:
        self._display = display

    @contextmanager
    def step(self, title: str, total: int | None = None) -> Iterator[Step]:
        task = self._display.add_task(title, total=total, note="")
        yield _Bar(self._display, task)
        whole = total if total is not None else 1
        self._display.update(task, total=whole, completed=whole)


class _Line:
    def __init__(self) -> None:
        self.note = ""

    def update(self, done: int, note: str | None = None) -> None:
        self.note = self.note if note is None else note


class _Lines:
    @contextmanager
    def step(self, title: str, total: int | None = None) -> Iterator[Step]:
        line, start = _Line(), time.monotonic()
        yield line
        note = f"{line.note}, " if line.note else ""
        print(f"{title}: {note}{time.monotonic() - start:.1f} s", file=sys.stderr)
