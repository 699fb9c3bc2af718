"""Taking part by connections of one's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Final

from geocast.repository.membership import Membership
from geocast.repository.repository import Repository

__all__ = ["joined"]

_CONNECTIONS: Final = 2


@contextmanager
def joined(url: str, role: str, works: Mapping[str, int] | None = None) -> Iterator[Membership]:
    """Be a member of those who have a role, for the length of the block.

    Not by the connections of the work: where all of them wait for a lock, this process could not
    say that it is alive, and nobody would do anything about the lock.
    """
    with (
        closing(Repository.open(url, connections=_CONNECTIONS)) as repository,
        Membership(repository.members, works or {}, role) as member,
    ):
        yield member
