"""Numbers of things, in words that agree with them."""

from __future__ import annotations

__all__ = ["counted"]


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return a number and what it counts: `1 notice`, `2 notices`; `many` where it needs no s."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
