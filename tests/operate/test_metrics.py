from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

COUNT = """
import sys
from pathlib import Path
from geocast.operate import metrics, share_metrics
share_metrics(Path(sys.argv[1]))
metrics().matches.inc(int(sys.argv[2]))
metrics().delay.labels(channel="sse").observe(0.3)
metrics().snapshot_version.set(int(sys.argv[2]))
"""
RENDER = """
import sys
from pathlib import Path
from geocast.operate import render, share_metrics
share_metrics(Path(sys.argv[1]))
sys.stdout.write(render().decode())
"""


def test_processes_count_together(tmp_path: Path) -> None:
    for number in ("3", "4"):
        run(COUNT, str(tmp_path), number)
    text = run(RENDER, str(tmp_path))
    assert "geocast_matches_total 7.0" in text
    assert 'geocast_delay_seconds_count{channel="sse"} 2.0' in text
    assert "geocast_snapshot_version 4.0" in text


def run(code: str, *arguments: str) -> str:
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(
        command, check=True, capture_output=True, text=True, env=os.environ
    ).stdout
