"""Saved matchers: what earlier versions wrote is read, what cannot be is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import shapely
from numpy.typing import NDArray

import geocast
from geocast.errors import InputError
from geocast.match.geometry.curves import hilbert_order
from geocast.match.index.quadtree import Quadtree
from geocast.match.store import FORMAT, load_arrays, save_arrays

SIDE = 12
OLD_FAN_OUT = 8

Arrays = dict[str, NDArray[Any]]


def squares(predicate: str) -> pa.Table:
    """Tiles that share their borders."""
    corners = [(x, y) for x in range(SIDE) for y in range(SIDE)]
    geometries = [shapely.to_wkb(shapely.box(x, y, x + 1, y + 1)) for x, y in corners]
    names = [f"{x}-{y}" for x, y in corners]
    return pa.table({"id": names, "geometry": geometries, "predicate": [predicate] * len(names)})


def publications() -> pa.Table:
    centres = [(x + 0.5, y) for x in range(SIDE) for y in range(SIDE)]
    areas = [shapely.Point(x, y).buffer(0.3 + (x + y) / SIDE) for x, y in centres]
    everything = [*areas, *(shapely.Point(place) for place in centres)]
    ids = [str(number) for number in range(len(everything))]
    return pa.table({"id": ids, "geometry": [shapely.to_wkb(each) for each in everything]})


def packed_before_format_5(bounds: NDArray[np.float64]) -> Arrays:
    """A packed tree as it was kept: the boxes of all levels in one array, items first."""
    order = hilbert_order(bounds)
    levels, links = [bounds[order]], [order]
    while len(levels[-1]) > OLD_FAN_OUT:
        runs = np.arange(0, len(levels[-1]), OLD_FAN_OUT)
        low = np.minimum.reduceat(levels[-1][:, :2], runs)
        high = np.maximum.reduceat(levels[-1][:, 2:], runs)
        levels.append(np.hstack([low, high]))
        links.append(np.arange(len(runs)))
    return {
        "boxes": np.concatenate(levels),
        "links": np.concatenate(links).astype(np.int32),
        "levels": np.cumsum([0, *map(len, levels)]),
        "fan_out": np.array([OLD_FAN_OUT]),
    }


def rewrite(folder: Path, index: str, number: int) -> None:
    """Bring a saved matcher into the layout of an earlier format."""
    arrays, facts = load_arrays(folder)
    for group in ("positive", "complement"):
        bounds = arrays[f"{group}.bounds"]
        old = (
            Quadtree.build(bounds).arrays() if index == "cells" else packed_before_format_5(bounds)
        )
        for tree in ("boxes",) if index == "cells" else ("index", "boxes"):
            place = f"{group}.{tree}."
            arrays = {name: kept for name, kept in arrays.items() if not name.startswith(place)}
            arrays |= {place + name: array for name, array in old.items()}
    if number < 4:
        del arrays["ids.heads"]
    save_arrays(folder, {name: array.copy() for name, array in arrays.items()}, facts)
    set_format(folder, number)


def set_format(folder: Path, number: int) -> None:
    manifest = folder / "manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"format": number}))


@pytest.mark.parametrize("number", [3, 4])
@pytest.mark.parametrize("index", ["cells", "hprtree", "strtree"])
@pytest.mark.parametrize("predicate", ["overlaps", "intersects", "disjoint"])
def test_what_earlier_versions_saved_answers_as_before(
    index: str, number: int, predicate: str, tmp_path: Path
) -> None:
    matcher = geocast.Matcher(squares(predicate), index=index)
    expected = matcher.match(publications())
    assert expected.num_rows
    matcher.save(tmp_path)
    rewrite(tmp_path, index, number)
    assert geocast.Matcher.open(tmp_path).match(publications()).equals(expected)


@pytest.mark.parametrize("number", [2, FORMAT + 1])
def test_what_no_version_or_a_later_one_saved_is_refused(number: int, tmp_path: Path) -> None:
    geocast.Matcher(squares("within")).save(tmp_path)
    set_format(tmp_path, number)
    with pytest.raises(InputError, match=f"has format {number}, this version reads 3 to {FORMAT}"):
        geocast.Matcher.open(tmp_path)


def test_a_file_that_is_cut_short_is_refused(tmp_path: Path) -> None:
    geocast.Matcher(squares("within")).save(tmp_path)
    file = tmp_path / "arrays.bin"
    file.write_bytes(file.read_bytes()[:-100])
    with pytest.raises(InputError, match="is cut short"):
        geocast.Matcher.open(tmp_path)
