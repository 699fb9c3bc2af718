from __future__ import annotations

import numpy as np
import shapely

from geocast.cli.demo.quakes import Quakes
from geocast.cli.demo.subscription import Subscription

__all__ = ["SUBSCRIPTIONS", "three_quakes"]


def three_quakes() -> Quakes:
    return Quakes(
        id=np.array(["a", "b", "c"], dtype=object),
        points=shapely.points([0.0, 1.0, 5.0], [0.0, 1.0, 5.0]),
        time=np.array(["2015-08-01", "2015-08-02", "2015-08-03"], dtype="datetime64[ms]"),
        mag=np.array([2.0, 3.0, 4.0]),
        depth=np.array([10.0, 20.0, 30.0]),
        place=np.array(["1km N of X, Alaska", "Y, Alaska", "Z"], dtype=object),
        type=np.array(["earthquake", "earthquake", "explosion"], dtype=object),
    )


SUBSCRIPTIONS = [
    Subscription("g", "all", "all", "mag > 0", lambda q: q.mag > 0),
    Subscription(
        "g", "edge", "edge", "mag > 0", lambda q: q.mag > 0, "within", shapely.box(0, 0, 2, 2)
    ),
    Subscription(
        "g", "touch", "t", "mag > 0", lambda q: q.mag > 0, "intersects", shapely.box(0, 0, 2, 2)
    ),
    Subscription(
        "g", "sea", "sea", "mag > 3", lambda q: q.mag > 3, "disjoint", shapely.box(0, 0, 2, 2)
    ),
]
