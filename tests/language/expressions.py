"""Random CQL2 JSON on a fixed set of columns, and its text."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import pyarrow as pa
import shapely
from hypothesis import strategies as st

from tests.content.batches import batch_of, mixed

__all__ = ["BATCH", "GEOMETRIES", "ROWS", "conditions", "text_of"]

Json = Any
UTC = dt.UTC

_COLUMNS: dict[str, list[Any]] = {
    "n": [0, 1, -2, 3, None, 7],
    "x": [0.5, -1.0, 2.0, float("nan"), None, 3.25],
    "s": ["a", "Äb", "a_b", "", None, "A"],
    "b": [True, False, None, True, False, None],
    "d": [dt.date(2020, 1, day) if day else None for day in (1, 2, 3, 0, 2, 1)],
    "t": [dt.datetime(2020, 1, 2, hour, tzinfo=UTC) for hour in (0, 6, 12, 18, 23, 0)],
    "i": ["2020-01-01", "2020-01-02T06:00:00Z", "never", None, "2020-01-02T07:00:00+01:00", ""],
    "l": [["a"], ["a", "b"], [], None, ["b", "c"], ["a", "a"]],
    "m": [1, "a", True, 2.5, None, -2],
}
_TYPES = {"t": pa.timestamp("ms", "UTC"), "d": pa.date32()}
BATCH: pa.RecordBatch = batch_of(
    {
        name: mixed(values) if name == "m" else pa.array(values, _TYPES.get(name))
        for name, values in _COLUMNS.items()
    }
)
GEOMETRIES = shapely.points([(0, 0), (1, 1), (2, 2), (1, 0), (3, 3), (2, 1)])
ROWS = [
    {**{name: values[row] for name, values in _COLUMNS.items()}, "geometry": GEOMETRIES[row]}
    for row in range(len(GEOMETRIES))
]


def _op(*names: str, args: list[st.SearchStrategy[Json]]) -> st.SearchStrategy[Json]:
    return st.builds(
        lambda op, a: {"op": op, "args": list(a)}, st.sampled_from(names), st.tuples(*args)
    )


def _property(names: str) -> st.SearchStrategy[Json]:
    return st.sampled_from([{"property": name} for name in names.split()])


_INTEGERS = st.integers(-3, 4)
_NUMBERS = st.one_of(_INTEGERS, st.sampled_from([0.5, -1.5, 2.25, 1e300, 2**53 + 1]))
_NUMERIC = st.recursive(
    st.one_of(_NUMBERS, _property("n x m missing")),
    lambda inner: _op("+", "-", "*", "/", "%", "div", args=[inner, inner]),
    max_leaves=4,
)
_WORDS = st.text("aAbÄ_%\\' é", max_size=4)
_STRINGS = st.recursive(
    st.one_of(_WORDS, _property("s i m missing")),
    lambda inner: _op("casei", "accenti", args=[inner]),
    max_leaves=2,
)
_PATTERNS = st.one_of(_WORDS, _op("casei", "accenti", args=[_WORDS]))
_DAYS = st.sampled_from(["2020-01-01", "2020-01-02", "2020-01-03"])
_TIMES = st.sampled_from(["2020-01-02T00:00:00Z", "2020-01-02T06:00:00Z", "2020-01-02T23:59:59.5Z"])
_MOMENTS = st.one_of(
    st.builds(lambda text: {"date": text}, _DAYS),
    st.builds(lambda text: {"timestamp": text}, _TIMES),
)
_INSTANTS = st.one_of(_MOMENTS, _property("d t i missing"))
_BOUNDS = st.one_of(_DAYS, _TIMES, st.just(".."), _property("d t i"))


def _in_order(bounds: tuple[Json, Json]) -> bool:
    texts = [bound for bound in bounds if isinstance(bound, str) and bound != ".."]
    return len(texts) < 2 or texts[0][:10] < texts[1][:10] or texts[0] == texts[1]


_INTERVALS = st.tuples(_BOUNDS, _BOUNDS).filter(_in_order).map(lambda b: {"interval": list(b)})
_BOOLEANS = st.one_of(st.booleans(), _property("b m missing"))
_ELEMENTS = st.lists(
    st.one_of(st.sampled_from(["a", "b", "c"]), _INTEGERS, st.booleans()), max_size=3
)
_ARRAYS = st.one_of(_ELEMENTS, _property("l s missing"))
_SHAPES = st.sampled_from(
    [
        {"type": "Point", "coordinates": [1.0, 1.0]},
        {"type": "LineString", "coordinates": [[0.0, 0.0], [2.0, 2.0]]},
        {"bbox": [0, 0, 2, 2]},
        {"bbox": [1, 0, 3, 3]},
    ]
)
_GEOMETRY = st.just({"property": "geometry"})
_COMPARISONS = ("=", "<>", "<", ">", "<=", ">=")
_SPATIAL = (
    "s_intersects",
    "s_disjoint",
    "s_within",
    "s_touches",
    "s_covers",
    "s_coveredBy",
    "s_equals",
)
_SCALARS = (_NUMERIC, _STRINGS, _INSTANTS, _BOOLEANS)

_PREDICATES = st.one_of(
    *(_op(*_COMPARISONS, args=[scalar, scalar]) for scalar in _SCALARS),
    _op(*_COMPARISONS, args=[_property("n x s b d t i m"), _property("n x s b d t i m")]),
    *(_op("between", args=[s, s, s]) for s in (_NUMERIC, _STRINGS, _INSTANTS)),
    *(_op("in", args=[s, st.lists(s, min_size=1, max_size=3)]) for s in _SCALARS),
    _op("like", args=[_STRINGS, _PATTERNS]),
    _op("isNull", args=[st.one_of(*_SCALARS)]),
    _op(
        "t_after",
        "t_before",
        "t_disjoint",
        "t_equals",
        "t_intersects",
        args=[_INSTANTS, _INTERVALS],
    ),
    _op(
        *("t_contains", "t_during", "t_meets", "t_metBy", "t_overlaps", "t_overlappedBy"),
        *("t_starts", "t_startedBy", "t_finishes", "t_finishedBy", "t_intersects", "t_equals"),
        args=[_INTERVALS, _INTERVALS],
    ),
    _op("a_equals", "a_contains", "a_containedBy", "a_overlaps", args=[_ARRAYS, _ARRAYS]),
    _op(*_SPATIAL, args=[_GEOMETRY, _SHAPES]),
    _op(*_SPATIAL, args=[_SHAPES, _GEOMETRY]),
)


def conditions() -> st.SearchStrategy[Json]:
    """Conditions of a few levels, such that at most a few filters come of them."""
    return st.recursive(
        _PREDICATES,
        lambda inner: st.one_of(
            _op("not", args=[inner]),
            _op("isNull", args=[inner]),
            _op("and", "or", args=[inner, inner]),
            _op("and", "or", args=[inner, inner, inner]),
        ),
        max_leaves=5,
    )


def text_of(value: Json) -> str:
    """Write CQL2 JSON as text, with parentheses around everything that can be nested."""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"
    if isinstance(value, list):
        return f"({', '.join(map(text_of, value))})"
    if not isinstance(value, dict):
        return repr(value)
    if "op" in value:
        return _operation_text(value["op"], [text_of(arg) for arg in value["args"]])
    if "property" in value:
        return f'"{value["property"]}"'
    if "type" in value:
        return str(shapely.from_geojson(json.dumps(value)).wkt)
    ((name, content),) = value.items()
    parts = content if isinstance(content, list) else [content]
    return f"{name.upper()}({', '.join(map(text_of, parts))})"


def _operation_text(op: str, args: list[str]) -> str:
    if op == "not":
        return f"(NOT {args[0]})"
    if op == "isNull":
        return f"({args[0]} IS NULL)"
    if op == "between":
        return f"({args[0]} BETWEEN {args[1]} AND {args[2]})"
    if "_" in op or op in ("casei", "accenti"):
        return f"{op.upper()}({', '.join(args)})"
    return f"({f' {op.upper()} '.join(args)})"
