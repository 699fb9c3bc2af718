from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import shapely

import geocast
from geocast.bench.adaptive import run_adaptive
from geocast.bench.report.adaptive import adaptive_table, plot_adaptive
from geocast.match.partition.division import Divider
from geocast.pipeline import balance
from tests.match.comparison import publication_table, subscription_table


def test_partitions_that_follow_find_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(balance, "_PLACES", 0)
    rng = np.random.default_rng(1)
    low = rng.uniform(0, 20, (300, 2))
    subscriptions = subscription_table(shapely.box(*low.T, *(low + 1).T), ["intersects"] * 300)
    hours: list[pa.RecordBatch] = []
    for hour in range(2):
        hot = rng.normal(5 + 8 * hour, 0.5, (300, 2))
        table = publication_table(shapely.points(hot))
        hours.append(table.combine_chunks().to_batches()[0])
    told: list[str] = []
    divider = Divider("spread", "quadtree", "QT", 10)
    found = run_adaptive(subscriptions, hours, divider, told.append)
    assert [one.publications for one in found] == [300, 300]
    expected = [geocast.match(subscriptions, pa.table(hour)) for hour in hours]
    assert [one.pairs for one in found] == [
        sum(map(len, matches["subscriptions"].to_pylist())) for matches in expected
    ]
    assert all(one.pairs > 0 for one in found)
    assert sum(one.made_anew for one in found) > 0
    assert len(told) == 6
    assert adaptive_table(found).row_count == 3
    assert all(path.stat().st_size for path in plot_adaptive(found, tmp_path / "adaptive"))
