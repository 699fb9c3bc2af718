"""The picture of a publication against shapely: what it says of points and boxes is so."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
import shapely
from numpy.typing import NDArray

from geocast.match.geometry.decode import decode_distinct
from geocast.match.geometry.shapes import Shapes, path_range
from geocast.match.index.trie import INSIDE, OUTSIDE, UNKNOWN
from geocast.match.relate.raster import (
    PIXELS,
    box_place,
    draw,
    edges_near,
    new_frame,
    point_place,
    want,
)
from tests.match.real_data import shipped

Picture = tuple[NDArray[np.float64], NDArray[np.uint64], NDArray[np.uint64]]


def shapes_of(geometry: shapely.Geometry) -> Shapes:
    return decode_distinct(pa.array([shapely.to_wkb(geometry)], pa.binary())).shapes


def picture(shapes: Shapes) -> tuple[bool, Picture]:
    frame = new_frame()
    rim, inside = np.zeros(PIXELS, np.uint64), np.zeros(PIXELS, np.uint64)
    first, last = path_range(shapes, 0)
    drawn = draw(
        shapes.xy, shapes.path_off, first, last, shapes.bounds[0], bool(shapes.dim[0] == 2),
        frame, rim, inside,
    )  # fmt: skip
    return drawn, (frame, rim, inside)


def wavy(seed: int, scale: float, centre: tuple[float, float]) -> shapely.Geometry:
    """An area of many corners, sometimes with a hole or a second part, at any place and size."""
    rng = np.random.default_rng(seed)
    turns = np.sort(rng.uniform(0, 2 * np.pi, int(rng.integers(40, 200))))
    radius = rng.uniform(0.4, 1.0, len(turns)) * scale
    ring = np.column_stack([np.cos(turns), np.sin(turns)]) * radius[:, None] + centre
    area = shapely.make_valid(shapely.polygons(ring))
    if seed % 3 == 1:
        area = shapely.difference(area, shapely.box(*(ring.mean(0) - scale / 8), *ring.mean(0)))
    if seed % 3 == 2:
        area = shapely.union(
            area, shapely.transform(area, lambda c: c + np.array([2.5 * scale, 0]))
        )
    return area


AREAS = [
    wavy(seed, scale, centre)
    for seed, (scale, centre) in enumerate(
        (scale, centre)
        for scale in (1e-4, 0.01, 1.0, 20.0)
        for centre in ((0.0, 0.0), (-120.123, 60.7), (151.2, -33.9))
    )
]


@pytest.mark.parametrize("number", range(len(AREAS)))
def test_points_lie_where_the_picture_says(number: int) -> None:
    area = AREAS[number]
    drawn, parts = picture(shapes_of(area))
    assert drawn
    rng = np.random.default_rng(number)
    west, south, east, north = area.bounds
    xs, ys = rng.uniform(west, east, 3_000), rng.uniform(south, north, 3_000)
    corners = shapely.get_coordinates(area)
    xs, ys = np.concatenate([xs, corners[:, 0]]), np.concatenate([ys, corners[:, 1]])
    places = np.array([point_place(*parts, x, y) for x, y in zip(xs, ys, strict=True)])
    within = shapely.contains_xy(area, xs, ys)
    apart = ~shapely.intersects_xy(area, xs, ys)
    assert within[places == INSIDE].all()
    assert apart[places == OUTSIDE].all()
    assert (places == UNKNOWN).mean() < 0.5  # most points are decided
    assert (places[3_000:] == UNKNOWN).all()  # but no corner is


@pytest.mark.parametrize("number", range(len(AREAS)))
def test_boxes_lie_where_the_picture_says(number: int) -> None:
    area = AREAS[number]
    _, parts = picture(shapes_of(area))
    rng = np.random.default_rng(number)
    west, south, east, north = area.bounds
    x, y = rng.uniform(west, east, 500), rng.uniform(south, north, 500)
    w, h = rng.uniform(0, (east - west) / 4, 500), rng.uniform(0, (north - south) / 4, 500)
    places = np.array(
        [box_place(*parts, *box) for box in zip(x - w, y - h, x + w, y + h, strict=True)]
    )
    boxes = shapely.box(x - w, y - h, x + w, y + h)
    assert shapely.contains_properly(area, boxes[places == INSIDE]).all()
    assert shapely.disjoint(area, boxes[places == OUTSIDE]).all()
    assert {INSIDE, OUTSIDE, UNKNOWN} <= set(places.tolist())


def test_a_line_has_no_inside() -> None:
    ring = shapely.boundary(AREAS[3])
    _, parts = picture(shapes_of(ring))
    rng = np.random.default_rng(1)
    west, south, east, north = ring.bounds
    for x, y in zip(rng.uniform(west, east, 500), rng.uniform(south, north, 500), strict=True):
        assert point_place(*parts, x, y) in (OUTSIDE, UNKNOWN)


def test_flat_lines_are_drawn() -> None:
    for xy in (
        np.array([np.linspace(0, 1, 50), np.full(50, 5.0)]).T,
        [[2.0, k] for k in range(50)],
    ):
        line = shapely.linestrings(xy)
        drawn, parts = picture(shapes_of(line))
        assert drawn
        places = {point_place(*parts, x, y) for x, y in shapely.get_coordinates(line)}
        assert places == {UNKNOWN}
        assert point_place(*parts, 1.5, 5.5) == OUTSIDE


def test_a_tiny_or_simple_geometry_is_all_rim() -> None:
    for geometry in (wavy(0, 1e-7, (3.0, 4.0)), shapely.box(0, 0, 1, 1)):
        drawn, parts = picture(shapes_of(geometry))
        assert not drawn
        x, y = shapely.get_coordinates(geometry.centroid)[0]
        assert point_place(*parts, x, y) == UNKNOWN
        assert box_place(*parts, x, y, x, y) == UNKNOWN


@pytest.mark.parametrize("number", range(len(AREAS)))
def test_no_edge_near_a_wanted_box_is_left_out(number: int) -> None:
    area = AREAS[number]
    shapes = shapes_of(area)
    _, (frame, _, _) = picture(shapes)
    rng = np.random.default_rng(number)
    west, south, east, north = area.bounds
    wanted, boxes = np.zeros(PIXELS, np.uint64), []
    for _ in range(3):
        x, y = rng.uniform(west, east), rng.uniform(south, north)
        box = (x, y, x + (east - west) / 10, y + (north - south) / 10)
        want(frame, wanted, *box)
        boxes.append(shapely.box(*box))
    first, last = path_range(shapes, 0)
    found = np.empty(len(shapes.xy), np.int32)
    n = edges_near(shapes.xy, shapes.path_off, first, last, frame, wanted, found)
    ends = set(shapes.path_off[1:] - 1)
    for v in range(len(shapes.xy) - 1):
        edge = shapely.linestrings(shapes.xy[v : v + 2])
        if v not in ends and shapely.intersects(edge, boxes).any():
            assert v in found[:n]
    assert n < len(shapes.xy) - len(ends)


def test_real_countries() -> None:
    rng = np.random.default_rng(5)
    for country in shipped("countries")[::12]:
        drawn, parts = picture(shapes_of(country))
        if not drawn:
            continue
        west, south, east, north = country.bounds
        xs, ys = rng.uniform(west, east, 400), rng.uniform(south, north, 400)
        places = np.array([point_place(*parts, x, y) for x, y in zip(xs, ys, strict=True)])
        within = shapely.contains_xy(country, xs, ys)
        assert within[places == INSIDE].all()
        assert not within[places == OUTSIDE].any()
