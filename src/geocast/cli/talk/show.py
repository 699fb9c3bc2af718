"""What the commands print: tables and lines for people, a JSON object a line for programs."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from geocast.client import Facts, Notification

__all__ = [
    "for_people",
    "json_line",
    "moment",
    "notification_line",
    "place",
    "printable",
    "show_rows",
    "subscription_cells",
]


def for_people(json: bool) -> bool:
    """Whether somebody reads standard output on a terminal, and did not ask for JSON."""
    return sys.stdout.isatty() and not json


def json_line(value: Any) -> str:
    """Return a value as one line of JSON; times are RFC 3339, as the service tells them."""
    return orjson.dumps(value, option=orjson.OPT_UTC_Z).decode()


def moment(time: datetime) -> str:
    """Return a time for a terminal, to the minute: 2026-11-16 08:15 UTC."""
    return f"{time.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def show_rows(titles: list[str], rows: Iterable[tuple[Any, list[str]]], json: bool) -> None:
    """Print each row: its value as JSON, or its cells in a table."""
    if not for_people(json):
        for value, _ in rows:
            print(json_line(value))
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD)
    for title in titles:
        table.add_column(title, overflow="fold", no_wrap=title == titles[0])
    for _, cells in rows:
        table.add_row(*map(printable, cells))
    Console(markup=False, highlight=False).print(table)


def subscription_cells(facts: Facts) -> list[str]:
    """Return what a table says of a subscription."""
    condition = facts.filter if isinstance(facts.filter, str) else json_line(facts.filter)
    return [
        facts.id,
        facts.status,
        str(facts.version),
        facts.predicate or "",
        place(facts.geometry),
        "" if facts.filter is None else condition,
    ]


def notification_line(notification: Notification) -> str:
    """Return a notification for a terminal: time, delay, publication, place, subscription."""
    received = notification.received.astimezone().strftime("%H:%M:%S")
    feature = notification.feature
    where = "withdrawn" if feature is None else place(feature.get("geometry"))
    cells = (notification.publication, where, notification.subscription)
    return "  ".join([received, _duration(notification.delay), *map(printable, cells)])


def place(geometry: dict[str, Any] | None) -> str:
    """Return where a geometry is: the point, or its type and the middle of its bounds."""
    positions = list(_positions((geometry or {}).get("coordinates")))
    if geometry is None or not positions:
        return ""
    xs, ys = ([position[axis] for position in positions] for axis in (0, 1))
    x, y = (min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2
    point = f"{abs(y):.3f}°{'S' if y < 0 else 'N'} {abs(x):.3f}°{'W' if x < 0 else 'E'}"
    return point if geometry.get("type") == "Point" else f"{geometry.get('type')} {point}"


def _positions(coordinates: Any) -> Iterator[list[float]]:
    if not isinstance(coordinates, list) or not coordinates:
        return
    if isinstance(coordinates[0], list):
        for inner in coordinates:
            yield from _positions(inner)
    else:
        yield coordinates


def _duration(seconds: float) -> str:
    for limit, size, unit in ((120, 1, "s"), (7_200, 60, "min"), (172_800, 3_600, "h")):
        if seconds < limit:
            return f"{seconds / size:6.2f} {unit}" if size == 1 else f"{seconds / size:6.0f} {unit}"
    return f"{seconds / 86_400:6.0f} d"


def printable(text: str) -> str:
    """Return text that others wrote without what would steer the terminal."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in text)
