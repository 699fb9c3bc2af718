"""Run the product and the oracle on the same geometries and say where they differ."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import shapely
from numpy.typing import NDArray

import geocast
from geocast.match.index import INDEXES
from geocast.model import MATCHES, Rejects
from tests.oracle import PREDICATES
from tests.oracle.exact import exact_relate, matrix_holds
from tests.oracle.spatial import Geometries, Pairs

__all__ = [
    "INDEX_NAMES",
    "assert_all_predicates",
    "assert_one_predicate_each",
    "assert_pairs",
    "found_pairs",
    "publication_table",
    "subscription_table",
]

INDEX_NAMES: Sequence[str] = sorted({*INDEXES, "cells"})
Pair = tuple[str, Any, Any]
Keys = NDArray[np.int64]
_NAMES = tuple(PREDICATES)
_SHOWN = 5
_MOST_VERTICES = 300
_MOST_JUDGED = 100


def publication_table(geometries: Geometries, **attributes: Any) -> pa.Table:
    """Publications whose id is the row number."""
    columns = {"id": _ids(len(geometries)), "geometry": _wkb(geometries)}
    return pa.table(columns | attributes)


def subscription_table(
    geometries: Geometries, predicates: Sequence[str], **columns: Any
) -> pa.Table:
    """Subscriptions whose id is the row number."""
    fixed = {
        "id": _ids(len(geometries)),
        "geometry": _wkb(geometries),
        "predicate": pa.array(list(predicates), pa.string()),
    }
    return pa.table(fixed | columns)


def _ids(n: int) -> pa.Array:
    return pc.cast(pa.array(np.arange(n)), pa.string())


def _wkb(geometries: Geometries) -> pa.Array:
    return pa.array(shapely.to_wkb(geometries), pa.binary())


def found_pairs(matches: pa.Table) -> Pairs:
    """The (publication, subscription) row numbers of a table of matches, checked for form."""
    assert matches.schema.equals(MATCHES)
    lists = matches["subscriptions"].combine_chunks()
    publications = pc.cast(matches["publication"], pa.int64()).to_numpy()
    assert (np.diff(publications) > 0).all(), "publications are not in the order of the input"
    counts = pc.list_value_length(lists).to_numpy()
    assert (counts > 0).all(), "a publication without matches is reported"
    for ids in lists.slice(0, 50).to_pylist():
        assert ids == sorted(ids), "subscriptions are not sorted"
    items = pc.cast(pc.list_flatten(lists), pa.int64()).to_numpy()
    return np.repeat(publications, counts), items


def assert_all_predicates(
    publications: Geometries,
    areas: Geometries,
    expected: Mapping[str, Pairs],
    index: str,
) -> None:
    """Every area subscribes with every predicate; all must be found and nothing else."""
    count = len(_NAMES)
    subscriptions = subscription_table(np.repeat(areas, count), _NAMES * len(areas))
    matcher = geocast.Matcher(subscriptions, index=index)
    assert list(matcher.rejects) == []
    rejects = Rejects()
    found = found_pairs(matcher.match(publication_table(publications), rejects=rejects))
    assert list(rejects) == []
    wanted = [
        (rows, columns * count + code)
        for code, (rows, columns) in enumerate(expected[name] for name in _NAMES)
    ]

    def pair(row: int, column: int) -> Pair:
        return _NAMES[column % count], publications[row], areas[column // count]

    both = np.concatenate([w[0] for w in wanted]), np.concatenate([w[1] for w in wanted])
    assert_pairs(found, both, pair)


def assert_one_predicate_each(
    publications: Geometries, areas: Geometries, expected: Mapping[str, Pairs], seed: int
) -> None:
    """Every area subscribes with one predicate, so that nothing else need be known of a pair."""
    predicates = np.random.default_rng(seed).choice(_NAMES, len(areas))
    matcher = geocast.Matcher(subscription_table(areas, predicates.tolist()))
    found = found_pairs(matcher.match(publication_table(publications)))
    own = [(name, *expected[name]) for name in _NAMES]
    kept = [
        (rows[keep], columns[keep])
        for name, rows, columns in own
        for keep in [predicates[columns] == name]
    ]
    both = np.concatenate([k[0] for k in kept]), np.concatenate([k[1] for k in kept])
    assert_pairs(found, both, lambda i, j: (str(predicates[j]), publications[i], areas[j]))


def assert_pairs(found: Pairs, expected: Pairs, pair: Callable[[int, int], Pair]) -> None:
    """Compare two sets of pairs; `pair` gives predicate and geometries by the row numbers.

    Where the product and shapely differ, exact arithmetic decides, because shapely (GEOS) errs
    in rare cases; see `tests.oracle.exact`.
    """
    has, should = _keys(found), _keys(expected)
    assert len(np.unique(has)) == len(has), "a match is reported twice"
    missing, extra = np.setdiff1d(should, has), np.setdiff1d(has, should)
    assert len(missing) + len(extra) <= _MOST_JUDGED, _told(missing, extra, pair)
    assert not list(_faults(missing, extra, pair)), _told(missing, extra, pair)


def _keys(pairs: Pairs) -> Keys:
    return np.asarray(pairs[0], np.int64) << 32 | np.asarray(pairs[1], np.int64)


def _told(missing: Keys, extra: Keys, pair: Callable[[int, int], Pair]) -> str:
    lines = list(islice(_faults(missing, extra, pair), _SHOWN))
    return "\n".join([f"{len(missing)} missing and {len(extra)} wrong for shapely", *lines])


def _faults(missing: Keys, extra: Keys, pair: Callable[[int, int], Pair]) -> Iterable[str]:
    """What the exact judge, too, calls missing or wrong."""
    for what, keys in (("missing", missing), ("wrong", extra)):
        for key in keys.tolist():
            predicate, publication, area = pair(key >> 32, key & 0xFFFFFFFF)
            matrix = _judged(publication, area)
            sizes = int(shapely.get_dimensions(publication)), int(shapely.get_dimensions(area))
            if matrix_holds(predicate, matrix, sizes) is (what == "missing"):
                yield f"{what}: {_described(predicate, publication, area)} | judged {matrix}"


def _judged(publication: Any, area: Any) -> str:
    """The matrix by exact arithmetic, or shapely's where that would take too long."""
    small = sum(shapely.get_num_coordinates([publication, area])) < _MOST_VERTICES
    return exact_relate(publication, area) if small else str(shapely.relate(publication, area))


def _described(predicate: str, publication: Any, area: Any) -> str:
    matrix = shapely.relate(publication, area)
    return f"{_text(publication)} | {predicate} | {_text(area)} | shapely {matrix}"


def _text(geometry: Any) -> str:
    """WKT, or hexadecimal WKB where WKT loses digits (as it does below 0.1)."""
    text = str(shapely.to_wkt(geometry, rounding_precision=-1))
    if shapely.to_wkb(shapely.from_wkt(text)) != shapely.to_wkb(geometry):
        text = str(shapely.to_wkb(geometry, hex=True))
    return text if len(text) < 4000 else f"{text[:200]}..."
