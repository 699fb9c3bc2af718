"""Chaos: the service is used by many and killed at random; a judge checks that nothing is lost."""

from geocast.bench.chaos.judge import Wrong
from geocast.bench.chaos.run import run_chaos
from geocast.bench.chaos.system import System
from geocast.bench.chaos.trial import Verdict

__all__ = ["System", "Verdict", "Wrong", "run_chaos"]
