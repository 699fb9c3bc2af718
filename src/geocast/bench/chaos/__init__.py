"""Chaos: the service is used by many and killed at random; a judge checks that nothing is lost."""

from geocast.bench.chaos.judge import Wrong
from geocast.bench.chaos.run import Verdict, run_chaos

__all__ = ["Verdict", "Wrong", "run_chaos"]
