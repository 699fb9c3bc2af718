"""What chaos needs of a service: to use it, to break it, and to read its books."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Protocol

from geocast.client import Client
from geocast.operate import Place, Settings

__all__ = ["System"]


class System(Protocol):
    """A service that is used and broken; its books are read when all is over."""

    @property
    def place(self) -> Place:
        """The data directory of the pipeline, and the repository."""
        ...

    @property
    def settings(self) -> Settings:
        """How the service is set."""
        ...

    @property
    def faults(self) -> Mapping[str, float]:
        """What can be done to it, and how often relative to the others."""
        ...

    def client(self, token: str | None = None) -> Client:
        """Return a client, of the administrator where no token is given."""
        ...

    def new_account(self, name: str, rights: str = "publish,subscribe") -> str:
        """Make an account and return a token of it."""
        ...

    def inflict(self, fault: str, chance: random.Random) -> bool:
        """Break it in one of those ways; tells whether there was something to break."""
        ...

    def mend(self) -> None:
        """Start again whatever does not start by itself."""
        ...

    def wait_ready(self, seconds: float = ...) -> None:
        """Wait until publications are matched."""
        ...

    def wait_idle(self, seconds: float) -> None:
        """Wait until all that was published is in mailboxes."""
        ...
