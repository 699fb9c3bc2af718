"""Seeded maker of CQL2 texts that make sense for the features of `feature_table`."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import shapely
from numpy.typing import NDArray

from tests.lattice import lattice_geometries

__all__ = ["STEP", "expression", "feature_table"]

STEP, SPAN = 0.25, 6
_WORDS = ("Île de Ré", "ile de re", "STRASSE", "straße", "50%", "a_b", "it's", "", "Zürich")
_PATTERNS = ("%e%", "_le%", "a\\_b", "%\\%", "%", "", "Z_rich", "%s", "it''s")
_TAGS = ("a", "b", "c")
_START = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)
_SPATIAL = (
    "S_INTERSECTS S_EQUALS S_DISJOINT S_TOUCHES S_WITHIN S_OVERLAPS S_CROSSES S_CONTAINS "
    "S_COVERS S_COVEREDBY"
)
_BOTH_TIMES = ("T_AFTER", "T_BEFORE", "T_DISJOINT", "T_EQUALS", "T_INTERSECTS")
_INTERVALS = (
    "T_CONTAINS T_DURING T_FINISHEDBY T_FINISHES T_MEETS T_METBY T_OVERLAPPEDBY T_OVERLAPS "
    "T_STARTEDBY T_STARTS"
)
_ARRAYS = ("A_EQUALS", "A_CONTAINS", "A_CONTAINEDBY", "A_OVERLAPS")

Rng = np.random.Generator


def feature_table(rng: Rng, n: int) -> pa.Table:
    """Features with columns of every type, some of whose values are null."""
    geometries = lattice_geometries(rng, n, STEP, span=SPAN)
    days = [_START.date() + dt.timedelta(days=int(k)) for k in rng.integers(0, 6, n)]
    times = [_START + dt.timedelta(hours=int(k)) for k in rng.integers(0, 120, n)]
    columns = {
        "id": pa.array([f"p{k}" for k in range(n)]),
        "geometry": pa.array(shapely.to_wkb(geometries), pa.binary()),
        "n": pa.array(_holed(rng, rng.integers(-5, 6, n).tolist()), pa.int64()),
        "m": pa.array(_holed(rng, rng.integers(-3, 4, n).tolist()), pa.int32()),
        "x": pa.array(_holed(rng, (rng.integers(-20, 21, n) / 4).tolist()), pa.float64()),
        "s": pa.array(_holed(rng, [str(w) for w in rng.choice(_WORDS, n)]), pa.string()),
        "b": pa.array(_holed(rng, rng.integers(0, 2, n).astype(bool).tolist()), pa.bool_()),
        "d": pa.array(_holed(rng, days), pa.date32()),
        "t": pa.array(_holed(rng, times), pa.timestamp("us", tz="UTC")),
        "u": pa.array(_holed(rng, [f"{t:%Y-%m-%dT%H:%M:%SZ}" for t in times]), pa.string()),
        "tags": pa.array(_holed(rng, [_some(rng, _TAGS) for _ in range(n)]), pa.list_(pa.string())),
        "nums": pa.array(_holed(rng, [_some(rng, (1, 2, 3)) for _ in range(n)])),
        "inner": pa.array([{"depth": int(k)} for k in rng.integers(0, 5, n)]),
    }
    return pa.table(columns)


def _holed(rng: Rng, values: list[Any]) -> list[Any]:
    holes: NDArray[np.bool_] = rng.random(len(values)) < 0.15
    return [None if hole else value for value, hole in zip(values, holes, strict=True)]


def _some(rng: Rng, values: tuple[Any, ...]) -> list[Any]:
    return [value for value in values if rng.random() < 0.5]


def expression(rng: Rng, depth: int = 3) -> str:
    """A random condition of at most so many levels of AND, OR and NOT."""
    choice = rng.random()
    if depth == 0 or choice < 0.35:
        return str(_pick(rng, _LEAVES)(rng))
    if choice < 0.5:
        return f"NOT ({expression(rng, depth - 1)})"
    word = "AND" if choice < 0.78 else "OR"
    parts = [f"({expression(rng, depth - 1)})" for _ in range(int(rng.integers(2, 4)))]
    return f" {word} ".join(parts)


def _pick(rng: Rng, options: Any) -> Any:
    return options[rng.integers(len(options))]


def _word(rng: Rng, names: str) -> str:
    return str(_pick(rng, names.split()))


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _comparison(rng: Rng) -> str:
    return str(_pick(rng, ("=", "<>", "<", ">", "<=", ">=")))


def _number(rng: Rng) -> str:
    return str(_pick(rng, ("0", "1", "-2", "2.5", "-0.25", "3e0", "4")))


def _calculated(rng: Rng, depth: int = 2) -> str:
    if depth == 0 or rng.random() < 0.4:
        return _word(rng, "n m x inner.depth") if rng.random() < 0.7 else _number(rng)
    op = _pick(rng, ("+", "-", "*", "/", "%", "DIV"))
    return f"({_calculated(rng, depth - 1)} {op} {_calculated(rng, depth - 1)})"


def _numbers(rng: Rng) -> str:
    return f"{_calculated(rng)} {_comparison(rng)} {_calculated(rng)}"


def _power(rng: Rng) -> str:
    return f"x {_comparison(rng)} n ^ 2"


def _between(rng: Rng) -> str:
    word = _pick(rng, ("BETWEEN", "NOT BETWEEN"))
    return f"{_word(rng, 'n x missing')} {word} {_calculated(rng, 1)} AND {_calculated(rng, 1)}"


def _in_numbers(rng: Rng) -> str:
    word = _pick(rng, ("IN", "NOT IN"))
    items = ", ".join(_number(rng) for _ in range(rng.integers(1, 4)))
    return f"{_word(rng, 'n m x')} {word} ({items})"


def _is_null(rng: Rng) -> str:
    operand = _word(rng, "n x s b d t tags missing id inner.depth inner.none")
    return f"{operand} {_pick(rng, ('IS NULL', 'IS NOT NULL'))}"


def _boolean(rng: Rng) -> str:
    return str(_pick(rng, ("b = TRUE", "b = FALSE", "b <> TRUE", "TRUE", "FALSE", "b < TRUE")))


def _strings(rng: Rng) -> str:
    word = _quoted(str(_pick(rng, _WORDS)))
    fold = _pick(rng, ("{}", "CASEI({})", "ACCENTI({})", "CASEI(ACCENTI({}))"))
    if rng.random() < 0.5:
        return f"{fold.format('s')} {_comparison(rng)} {fold.format(word)}"
    pattern = fold.format(f"'{_pick(rng, _PATTERNS)}'")
    return f"{fold.format('s')} {_pick(rng, ('LIKE', 'NOT LIKE'))} {pattern}"


def _in_strings(rng: Rng) -> str:
    items = ", ".join(_quoted(str(_pick(rng, _WORDS))) for _ in range(rng.integers(1, 4)))
    return f"s {_pick(rng, ('IN', 'NOT IN'))} ({items})"


def _day(rng: Rng) -> str:
    return f"2020-01-0{rng.integers(1, 8)}"


def _time(rng: Rng) -> str:
    return f"{_day(rng)}T{rng.integers(0, 24):02}:00:00Z"


def _instants(rng: Rng) -> str:
    if rng.random() < 0.5:
        return f"d {_comparison(rng)} DATE('{_day(rng)}')"
    return f"{_word(rng, 't u')} {_comparison(rng)} TIMESTAMP('{_time(rng)}')"


def _interval(rng: Rng) -> str:
    first, second = sorted((_time(rng), _time(rng)))
    open_end = _pick(rng, ((first, second), ("..", second), (first, "..")))
    return f"INTERVAL('{open_end[0]}', '{open_end[1]}')"


def _temporal(rng: Rng) -> str:
    if rng.random() < 0.5:
        return f"{_pick(rng, _BOTH_TIMES)}({_word(rng, 't u d')}, {_interval(rng)})"
    own = f"INTERVAL(t, '{_time(rng)}')"
    return f"{_word(rng, _INTERVALS)}({own}, {_interval(rng)})"


def _arrays(rng: Rng) -> str:
    if rng.random() < 0.5:
        items = ", ".join(_quoted(str(tag)) for tag in _some(rng, _TAGS) or ["z"])
        return f"{_pick(rng, _ARRAYS)}(tags, ({items}))"
    items = ", ".join(str(k) for k in _some(rng, (1, 2, 3)) or [9])
    return f"{_pick(rng, _ARRAYS)}(nums, ({items}))"


def _places(rng: Rng) -> str:
    (geometry,) = lattice_geometries(rng, 1, STEP, span=SPAN)
    literal = shapely.to_wkt(geometry, rounding_precision=-1)
    if rng.random() < 0.2:
        west, south, east, north = shapely.bounds(shapely.buffer(geometry, STEP))
        literal = f"BBOX({west}, {south}, {east}, {north})"
    sides = ("geometry", literal) if rng.random() < 0.8 else (literal, "geometry")
    return f"{_word(rng, _SPATIAL)}({sides[0]}, {sides[1]})"


_LEAVES: tuple[Callable[[Rng], str], ...] = (
    _numbers,
    _power,
    _between,
    _in_numbers,
    _is_null,
    _boolean,
    _strings,
    _in_strings,
    _instants,
    _temporal,
    _arrays,
    *[_places] * 6,
)
