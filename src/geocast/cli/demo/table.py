"""The table at the end of the demonstration."""

from __future__ import annotations

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.table import Table

from geocast.cli.demo.scene import Scene

__all__ = ["summary"]

ASKED = {
    "counties": ("any earthquake", 3),
    "states": ("mag >= 3", 3),
    "countries": ("mag >= 4.5", 3),
    "cities": ("300 km, mag >= 4", 3),
    "newsrooms": ("place LIKE '%name%'", 2),
    "desks": ("CQL2 of their own", 4),
}
"""What the members of each group ask for, and how many of them the table shows."""


def summary(scene: Scene) -> Table:
    """Return the subscribers of each group that were told most often, and of what."""
    table = Table(box=SIMPLE_HEAD, title="Who was told most often", title_justify="left")
    table.add_column("Asked for", style="cyan", width=19)
    table.add_column("Subscriber", width=21, no_wrap=True)
    table.add_column("Told", width=4, justify="right")
    table.add_column("Strongest", width=24, no_wrap=True)
    for group, (asked, shown) in ASKED.items():
        labels = [f"[bold]{group}[/]", asked]
        for row, (number, count) in enumerate(_most_told(scene, group)[:shown]):
            label = labels[row] if row < len(labels) else ""
            name = scene.subscriptions[number].name
            table.add_row(label, name, f"{count:,}", _strongest(scene, number))
        table.add_section()
    return table


def _most_told(scene: Scene, group: str) -> list[tuple[int, int]]:
    everybody = enumerate(scene.subscriptions)
    told = [(number, scene.alerts[s.id]) for number, s in everybody if s.group == group]
    return sorted(told, key=lambda pair: -pair[1])


def _strongest(scene: Scene, number: int) -> str:
    quakes = scene.quakes
    told = scene.notifications.quake[scene.notifications.subscription == number]
    if not len(told):
        return "none"
    top = told[int(np.argmax(quakes.mag[told]))]
    return f"{quakes.mag[top]:.1f} {quakes.place[top].rpartition(' of ')[2]}"
