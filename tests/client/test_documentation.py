"""The examples of docs/client.md, run in their order against a real gateway."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from geocast.model import Right
from tests.client.service import running

PAGE = Path(__file__).parents[2] / "docs" / "client.md"
EXAMPLE = re.compile(
    r"```python\n(?P<code>.*?)```\n(\nprints(\n\n```\n(?P<block>.*?)```| `(?P<line>[^`]*)`))?",
    re.DOTALL,
)


def test_the_examples_print_what_the_page_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    examples = list(EXAMPLE.finditer(PAGE.read_text()))
    assert sum(bool(each["block"] or each["line"]) for each in examples) >= 6
    names: dict[str, Any] = {}
    with running(tmp_path) as service:
        monkeypatch.setenv("GEOCAST_TOKEN", service.token("alice", *Right))
        for example in examples:
            code = example["code"].replace("Client()", f'Client("{service.url}")')
            capsys.readouterr()
            exec(code.replace("timeout=5", "timeout=3"), names)
            printed = capsys.readouterr().out
            if example["block"]:
                assert printed == example["block"]
            elif example["line"]:
                assert printed.splitlines()[0] == example["line"]
