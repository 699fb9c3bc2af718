from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from geocast.pipeline import spark_session


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    with spark_session("local[2]") as session:
        session.conf.set("spark.sql.execution.arrow.pyspark.validateSchema.enabled", "true")
        session.conf.set("spark.sql.shuffle.partitions", "2")
        yield session
