from __future__ import annotations

import io
import json
import logging
import subprocess
import sys
from collections.abc import Iterator

import pytest

from geocast.operate import open_journal


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    root = logging.getLogger()
    before = root.handlers[:], root.level
    stream = io.StringIO()
    open_journal("tester", stream)
    yield stream
    root.handlers[:], root.level = before[0], before[1]


def test_a_line_is_an_object_with_all_that_was_said(lines: io.StringIO) -> None:
    logging.getLogger("some.room").info("batch %d", 7, extra={"seconds": 0.5})
    line = json.loads(lines.getvalue())
    assert line.pop("time").endswith("Z")
    assert line == {
        "level": "info",
        "process": "tester",
        "logger": "some.room",
        "message": "batch 7",
        "seconds": 0.5,
    }


def test_an_exception_is_told_in_the_same_line(lines: io.StringIO) -> None:
    try:
        raise ValueError("oh")
    except ValueError:
        logging.getLogger("some.room").exception("failed")
    assert "ValueError: oh" in json.loads(lines.getvalue())["exception"]


def test_what_threads_did_is_told_when_a_library_takes_the_process_down() -> None:
    words = (
        "import os; from geocast.operate import open_journal\n"
        "def delivering(): os.abort()\n"
        "open_journal('tester'); delivering()"
    )
    ended = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True)
    assert ended.returncode < 0
    assert "Aborted" in ended.stderr
    assert "in delivering" in ended.stderr
