from __future__ import annotations

import os
import subprocess
import sys
from math import inf
from pathlib import Path

import pytest

from geocast.operate import Spread, metrics, read_metrics

COUNT = """
import sys
from pathlib import Path
from geocast.operate import metrics, read_metrics, share_metrics
share_metrics(Path(sys.argv[1]))
metrics().matches.inc(int(sys.argv[2]))
metrics().delay.labels(channel="mailbox").observe(0.3)
found = read_metrics()
print(found.total("geocast_matches"), found.spread("geocast_delay_seconds").count)
"""


def test_processes_are_read_together(tmp_path: Path) -> None:
    found = [run(COUNT, str(tmp_path), number) for number in ("3", "4")]
    assert found == ["3 1\n", "7 2\n"]


def run(code: str, *arguments: str) -> str:
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(
        command, check=True, capture_output=True, text=True, env=os.environ
    ).stdout


def test_counters_by_label() -> None:
    before = read_metrics().by("geocast_rejects", "where")
    metrics().rejects.labels(where="here").inc(2)
    metrics().rejects.labels(where="there").inc(3)
    after = read_metrics()
    assert after.by("geocast_rejects", "where")["here"] == before.get("here", 0) + 2
    assert after.total("geocast_rejects") == sum(before.values()) + 5


def test_spreads_by_label() -> None:
    before = read_metrics()
    metrics().delay.labels(channel="x").observe(0.3)
    metrics().delay.labels(channel="y").observe(30)
    after = read_metrics()
    name = "geocast_delay_seconds"
    assert after.spread(name).since(before.spread(name)).count == 2
    fresh = after.spread(name, channel="x").since(before.spread(name, channel="x"))
    assert [end for end, count in fresh.counts.items() if count] == [0.3]


@pytest.mark.parametrize(
    ("counts", "share", "expected"),
    [
        ({}, 0.5, None),
        ({1.0: 0, inf: 0}, 0.5, None),
        ({1.0: 10, 2.0: 0}, 0.5, 0.5),
        ({1.0: 10, 3.0: 10}, 0.75, 2.0),
        ({1.0: 10, 3.0: 10}, 1.0, 3.0),
        ({1.0: 1, 3.0: 0, inf: 9}, 0.99, 3.0),
    ],
)
def test_quantiles(counts: dict[float, float], share: float, expected: float | None) -> None:
    assert Spread(counts).quantile(share) == expected


def test_what_was_added() -> None:
    earlier, later = Spread({1.0: 2, 2.0: 3}), Spread({1.0: 5, 2.0: 3})
    assert later.since(earlier) == Spread({1.0: 3, 2.0: 0})
    assert earlier.since(later) == earlier, "counting began anew"
