"""The live service, measured from outside: delay, load, and what each process takes."""

from geocast.bench.live.measure import Delay, Load, fill, measure_delay, measure_load
from geocast.bench.live.scene import Scene, make_scene
from geocast.bench.live.usage import Usage

__all__ = ["Delay", "Load", "Scene", "Usage", "fill", "make_scene", "measure_delay", "measure_load"]
