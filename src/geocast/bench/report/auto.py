"""What `auto` chose, as a table on the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from geocast.bench.auto import SLOWEST_ALLOWED, Chosen

__all__ = ["auto_table"]

_LEFT = ("workload", "chosen")


def auto_table(found: Sequence[Chosen]) -> Table:
    """Return a row for each workload, with the rates of all algorithms."""
    table = Table(title="Publications a second, on Spark")
    for heading in (*_LEFT, *found[0].rates, "auto / best"):
        table.add_column(heading, justify="left" if heading in _LEFT else "right")
    for one in found:
        colour = "green" if one.ratio >= SLOWEST_ALLOWED else "red"
        rates = (f"{rate:,.0f}" for rate in one.rates.values())
        table.add_row(one.workload, one.name, *rates, f"[{colour}]{one.ratio:.2f}[/]")
    return table
