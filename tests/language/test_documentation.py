from __future__ import annotations

import doctest
import json
import re
from pathlib import Path

from geocast.language import normalise

PAGE = Path(__file__).parents[2] / "docs" / "filters.md"


def blocks(language: str) -> list[str]:
    text = PAGE.read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def test_the_examples_are_read() -> None:
    assert all(normalise(text).filters for text in blocks("sql"))
    assert all(normalise(json.loads(text)).filters for text in blocks("json"))


def test_the_python_example_answers_as_written() -> None:
    (example,) = blocks("python")
    test = doctest.DocTestParser().get_doctest(example, {}, "filters.md", str(PAGE), 0)
    assert doctest.DocTestRunner().run(test).failed == 0
