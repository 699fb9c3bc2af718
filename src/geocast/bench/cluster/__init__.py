"""A whole cluster of its own for a measurement, and the ways to break it."""

from geocast.bench.cluster.under_test import ClusterUnderTest

__all__ = ["ClusterUnderTest"]
