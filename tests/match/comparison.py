"""Run the product and the oracle on the same geometries and say where they differ."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
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
from tests.oracle.spatial import Geometries, Pairs

__all__ = [
    "INDEX_NAMES",
    "assert_all_predicates",
    "assert_pairs",
    "describe_pair",
    "found_pairs",
    "publication_table",
    "subscription_table",
]

INDEX_NAMES: Sequence[str] = sorted({*INDEXES, "cells"})
_NAMES = tuple(PREDICATES)
_SHOWN = 5


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
    for ids in lists.to_pylist()[:50]:
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
    assert_pairs(
        found,
        (np.concatenate([w[0] for w in wanted]), np.concatenate([w[1] for w in wanted])),
        lambda row, column: describe_pair(
            _NAMES[column % count], publications[row], areas[column // count]
        ),
    )


def assert_pairs(found: Pairs, expected: Pairs, told: Callable[[int, int], str]) -> None:
    """Compare two sets of pairs; `told` describes a pair by its two row numbers."""
    has, should = _keys(found), _keys(expected)
    assert len(np.unique(has)) == len(has), "a match is reported twice"
    missing, extra = np.setdiff1d(should, has), np.setdiff1d(has, should)
    lines = [
        *_described("missing", missing, told),
        *_described("wrong", extra, told),
    ]
    assert not lines, "\n".join(
        [f"{len(missing)} missing, {len(extra)} wrong of {len(should)}", *lines]
    )


def _keys(pairs: Pairs) -> NDArray[np.int64]:
    return np.asarray(pairs[0], np.int64) << 32 | np.asarray(pairs[1], np.int64)


def _described(
    what: str, keys: NDArray[np.int64], told: Callable[[int, int], str]
) -> Iterable[str]:
    for key in keys[:_SHOWN].tolist():
        yield f"{what}: {told(key >> 32, key & 0xFFFFFFFF)}"


def describe_pair(predicate: str, publication: Any, area: Any) -> str:
    texts = [shapely.to_wkt(g, rounding_precision=-1) for g in (publication, area)]
    shown = [text if len(text) < 2000 else f"{text[:200]}..." for text in texts]
    return f"{shown[0]} | {predicate} | {shown[1]} | {shapely.relate(publication, area)}"
