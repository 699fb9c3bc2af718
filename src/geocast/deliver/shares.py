"""Which part of the work is this process's, where several deliver together.

Matches, webhooks, topics and housekeeping are divided into shares; the repository says who has
which (`geocast.repository.Membership`). A process that cannot say in time that it is alive stops
by itself before others take over. What must not happen twice does not rest on that: the position
in the log of matches and the transactions of topics know whose turn it is.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import nullcontext
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

__all__ = ["AllShares", "Shares"]


class Shares(Protocol):
    """The shares of one work that this process has, by their numbers; threads may ask."""

    def held(self) -> Collection[int]:
        """Return those to work on now; none when it is not sure that they are still its own."""
        ...

    def is_sure(self) -> bool:
        """Whether this process is sure of its shares: it could say in time that it is alive."""
        ...

    def using(self) -> AbstractContextManager[Collection[int]]:
        """Give those to work on; none of them passes to another process within the block."""
        ...

    def begin(self, number: int) -> None:
        """Keep a share from passing to another process in order, until `end`."""
        ...

    def end(self, number: int) -> None:
        """Let a share go that `begin` kept."""
        ...


class AllShares:
    """The shares of somebody who works alone."""

    def __init__(self, count: int) -> None:
        self._all = range(count)

    def held(self) -> Collection[int]:
        """Return all."""
        return self._all

    def is_sure(self) -> bool:
        """It is."""
        return True

    def using(self) -> AbstractContextManager[Collection[int]]:
        """Give all."""
        return nullcontext(self._all)

    def begin(self, number: int) -> None:
        """Nobody else wants it."""

    def end(self, number: int) -> None:
        """Nobody else wants it."""
