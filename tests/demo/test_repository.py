from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
import shapely

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def topojson() -> ModuleType:
    spec = importlib.util.spec_from_file_location("topojson", ROOT / "scripts" / "topojson.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_rings_across_the_date_line_are_cut(topojson: ModuleType, tmp_path: Path) -> None:
    arc = "[[179, 0], [-358, 0], [0, 10], [358, 0], [0, -10]]"
    path = tmp_path / "areas.json"
    path.write_text(
        '{"type": "Topology", "transform": {"scale": [1, 1], "translate": [0, 0]},'
        f' "arcs": [{arc}], "objects": {{"areas": {{"geometries": [{{"type": "Polygon",'
        ' "arcs": [[0]], "properties": {"name": "A"}}]}}}'
    )
    [(code, name, shape)] = topojson.read(path, "areas")
    expected = shapely.union(shapely.box(179, 0, 180, 10), shapely.box(-180, 0, -179, 10))
    assert (code, name) == (None, "A")
    assert shapely.equals(shape, expected)


def test_constraints_are_names_and_versions_of_every_dependency() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.+!]+", line) for line in lines)
    pinned = {line.partition("==")[0].lower().replace("_", "-") for line in lines}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    assert {re.split(r"[\[<>=]", text)[0] for text in wanted} <= pinned
    assert "geocast" not in pinned


def test_ci_runs_by_itself() -> None:
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    assert all(os.access(ROOT / "scripts" / f"{n}.sh", os.X_OK) for n in ("java", "venv", "check"))


def test_readme_example_does_what_it_says() -> None:
    [example] = re.findall(r"```python\n(import pyarrow.*?)```", _read("README.md"), re.DOTALL)
    code, _, answer = example.rpartition("geocast.match(")
    program = f"{code}\nprint(geocast.match({answer.splitlines()[0]})"
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert f"# {ran.stdout.strip()}" == answer.splitlines()[1]


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "docs/index.md"])
def test_links_lead_somewhere(page: str) -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", _read(page))
    assert links
    missing = [link for link in links if not (ROOT / page).parent.joinpath(link).exists()]
    assert missing == []


def _read(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")
