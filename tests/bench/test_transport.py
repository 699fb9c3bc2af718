from __future__ import annotations

from dataclasses import replace

import pytest

from geocast.bench.core import Options
from geocast.bench.data import DataFolder
from geocast.bench.results import Results
from geocast.bench.transport import (
    FILES_ON_SPARK,
    NO_MATCHING,
    ON_SPARK,
    TWO_PROCESSES,
    run_transport,
)
from geocast.bench.workload import RECIPES, make
from geocast.pipeline.session import spark_session


@pytest.mark.spark
def test_spark_is_measured_beside_both_yardsticks(data: DataFolder) -> None:
    workload = make(replace(RECIPES["points"], subs=100, pubs=300), data)
    results = Results()
    with spark_session("local[2]") as session:
        run_transport("spark", workload, session, Options(repetitions=1), results, lambda _: None)
    assert results.engines() == [NO_MATCHING, ON_SPARK, FILES_ON_SPARK, TWO_PROCESSES]
    assert [one.engine for one in results.agreements] == [FILES_ON_SPARK, TWO_PROCESSES]
    for agreement in results.agreements:
        assert agreement.full
        assert agreement.pairs > 300
    sizes = [results.of("spark", engine)[0].pairs for engine in results.engines()]
    assert sizes[1] == sizes[2] == sizes[3]
    assert sizes[0] == pytest.approx(sizes[1], rel=0.1)
