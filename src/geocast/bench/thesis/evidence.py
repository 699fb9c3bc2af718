"""Rows of results as curves, so that claims can be judged by a few words of code."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import exp, log
from typing import Any

from geocast.bench.thesis.sizes import family

__all__ = ["Evidence", "MissingError", "Row", "mean"]

Row = dict[str, Any]
"""A point of a figure, with all that was set and found."""


class MissingError(Exception):
    """Rows that a claim needs are not there; the message says which."""


def mean(values: Iterable[float]) -> float:
    """Return the geometric mean: ratios and rates are averaged by it."""
    logs = [log(value) for value in values]
    if not logs:
        raise MissingError("nothing to average")
    return exp(sum(logs) / len(logs))


@dataclass(frozen=True, slots=True)
class Evidence:
    """The rows of all figures."""

    rows: list[Row]

    def points(self, figure: str) -> list[tuple[str, float, float]]:
        """Return series, x and value of every measured point of a figure; at least one."""
        found = [
            (row["series"], row["x"], value)
            for row in self.rows
            if row["figure"] == figure and (value := _value(row)) is not None
        ]
        if not found:
            raise MissingError(f"figure {figure} has no rows")
        return found

    def value(self, figure: str, series: str, x: float | None = None) -> float:
        """Return the value of a series at x, or its only one."""
        at = self.curve(figure, series)
        if x is None and len(at) == 1:
            return next(iter(at.values()))
        if x is None or x not in at:
            raise MissingError(f"figure {figure} has no single row of {series} at {x}")
        return at[x]

    def curve(self, figure: str, series: str) -> dict[float, float]:
        """Return the values of a series by x, ascending."""
        at = {x: value for name, x, value in self.points(figure) if name == series}
        if not at:
            raise MissingError(f"figure {figure} has no rows of {series}")
        return dict(sorted(at.items()))

    def line(self, figure: str, series: str, points: int = 2) -> dict[float, float]:
        """Return a curve of at least so many points."""
        curve = self.curve(figure, series)
        if len(curve) < points:
            raise MissingError(
                f"{series} has {len(curve)} of at least {points} points in figure {figure}"
            )
        return curve

    def last_row(self, figure: str, series: str) -> Row:
        """Return the row of a series at the largest x that was measured."""
        found = max(self.curve(figure, series))
        own = (row for row in self.rows if (row["figure"], row["series"]) == (figure, series))
        return next(row for row in own if row["x"] == found)

    def series(self, figure: str) -> list[str]:
        """Return the names of all series of a figure."""
        return list(dict.fromkeys(name for name, _, _ in self.points(figure)))

    def of(self, figure: str, name: str) -> str:
        """Return the one series of an algorithm in a figure of representatives."""
        found = [series for series in self.series(figure) if family(series) == name]
        if len(found) != 1:
            raise MissingError(f"figure {figure} has {len(found)} series of {name}, not one")
        return found[0]

    def ratio(self, figures: Iterable[str], above: str, below: str) -> float:
        """Return the mean ratio of two kinds of variants, wherever both were measured.

        A variant of the first kind has `above` in its name; its counterpart has `below` there.
        """
        ratios = []
        for figure in figures:
            try:
                at = {(name, x): value for name, x, value in self.points(figure)}
            except MissingError:
                continue
            for (name, x), value in at.items():
                other = at.get((name.replace(above, below), x))
                if above in name and other:
                    ratios.append(value / other)
        if not ratios:
            raise MissingError(f"no pair of {above} and {below} was measured")
        return mean(ratios)


def _value(row: Row) -> float | None:
    quantity = row["quantity"]
    if quantity != "static":
        return None if row.get(quantity) is None else float(row[quantity])
    parts = (row.get("static_unshared"), row.get("static_shared"))
    return None if None in parts else float(sum(part for part in parts if part is not None))
