from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import geocast
from tests.pipeline.generate import as_dict, publications, subscriptions

ROOT = Path(__file__).parents[2]


@pytest.mark.spark
def test_executors_get_the_index_without_a_shared_file_system(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.pipeline.cluster_job", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "found.json").read_text())
    assert found == as_dict(geocast.match(subscriptions(), publications(200)))
