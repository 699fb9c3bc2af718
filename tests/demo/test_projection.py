from __future__ import annotations

import numpy as np
import pytest
import shapely

from geocast.cli.demo.projection import CENTRE, outline, project, project_shape


def test_centre_and_poles() -> None:
    x, y = project(np.array([CENTRE, CENTRE, CENTRE]), np.array([0.0, 90.0, -90.0]))
    assert x == pytest.approx([0.0, 0.0, 0.0])
    assert y == pytest.approx([0.0, 1.3173628, -1.3173628], abs=1e-6)


def test_areas_are_true() -> None:
    assert outline().area == pytest.approx(4 * np.pi, rel=1e-3)


def test_a_shape_cut_at_the_date_line_is_whole_again() -> None:
    cut = shapely.union(shapely.box(170, 0, 180, 10), shapely.box(-180, 0, -170, 10))
    assert cut.geom_type == "MultiPolygon"
    assert project_shape(cut).geom_type == "Polygon"


def test_a_shape_across_the_seam_is_cut() -> None:
    west, _, east, _ = project_shape(shapely.box(-40, 0, -20, 10)).bounds
    assert west < -2.3
    assert east > 2.3
    assert project_shape(shapely.box(-40, 0, -20, 10)).geom_type == "MultiPolygon"


def test_points_and_shapes_agree() -> None:
    x, y = project(np.array([-155.0]), np.array([20.0]))
    assert project_shape(shapely.box(-156, 19, -154, 21)).contains(shapely.Point(x[0], y[0]))
