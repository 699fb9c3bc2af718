"""A process that takes part: says again and again that it is alive, and knows its shares."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Final

from geocast.operate import is_gone, process_name
from geocast.repository.members import Members
from geocast.repository.values import Division

__all__ = ["LEASE_SECONDS", "Membership", "OwnShares"]

LEASE_SECONDS: Final = 6.0
"""How long a member that has shares and is not heard of is taken to be alive."""

LONE_SECONDS: Final = 20.0
"""The same of one without: nobody waits for its shares, only for what it may have locked."""

_BEAT_SECONDS: Final = 1.0
_MARGIN_SECONDS: Final = 1.5
_log: Final = logging.getLogger(__name__)


class Membership:
    """One member of those who have a role: says that it is alive, and knows its shares.

    `works` says into how many shares each work is divided, the same in all processes of the role.
    A share that is due to another member is given up when nothing here uses it any more. A context
    manager: within the block, this process takes part.
    """

    def __init__(self, members: Members, works: Mapping[str, int], role: str = "deliver") -> None:
        self.name = process_name()
        self._role = role
        self._members = members
        self._works = dict(works)
        self._lease = LEASE_SECONDS if works else LONE_SECONDS
        self._lock = threading.Lock()
        self._divisions: dict[str, Division] = {}
        self._busy: Counter[tuple[str, int]] = Counter()
        self._until = float("-inf")
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="membership", daemon=True)

    def __enter__(self) -> Membership:
        self._attempt()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        self._until = float("-inf")
        try:
            self._members.leave(self.name)
        except Exception:
            _log.warning("the others will notice later that this process has ended", exc_info=True)

    def shares(self, work: str) -> OwnShares:
        """Return the shares of one work."""
        return OwnShares(self, work)

    def held(self, work: str) -> frozenset[int]:
        """Return the shares of a work that are this member's for sure."""
        with self._lock:
            return self._held(work)

    def is_sure(self) -> bool:
        """Whether nobody else can have taken its shares yet."""
        return time.monotonic() < self._until

    @contextmanager
    def using(self, work: str) -> Iterator[frozenset[int]]:
        """Give the shares of a work, and keep them for the length of the block."""
        with self._lock:
            numbers = self._held(work)
            self._busy.update((work, number) for number in numbers)
        try:
            yield numbers
        finally:
            with self._lock:
                self._busy.subtract((work, number) for number in numbers)

    def keep(self, work: str, number: int, change: int) -> None:
        """Count one use of a share more, or less."""
        with self._lock:
            self._busy[work, number] += change

    def beat(self) -> None:
        """Say that this process is alive; learn which shares it has."""
        started = time.monotonic()
        with self._lock:
            leaving = [(work, n) for work, one in self._divisions.items() for n in one.leaving]
            released = [share for share in leaving if self._busy[share] <= 0]
        divisions = self._members.beat(
            self.name, self._role, self._lease, self._works, released=released, is_gone=is_gone
        )
        with self._lock:
            before = {work: one.held for work, one in self._divisions.items()}
            self._divisions = divisions
            self._until = started + self._lease - _MARGIN_SECONDS
        held = {work: sorted(one.held) for work, one in divisions.items()}
        if any(before.get(work, frozenset()) != one.held for work, one in divisions.items()):
            _log.info("shares of the work", extra={"shares": held})

    def _held(self, work: str) -> frozenset[int]:
        known = work in self._divisions and self.is_sure()
        return self._divisions[work].held if known else frozenset()

    def _run(self) -> None:
        while not self._stop.wait(_BEAT_SECONDS):
            self._attempt()

    def _attempt(self) -> None:
        try:
            self.beat()
        except Exception as error:
            _log.warning("cannot tell the other processes of this one: %s", error)


class OwnShares:
    """The shares of one work that a member has."""

    def __init__(self, membership: Membership, work: str) -> None:
        self._membership = membership
        self._work = work

    def held(self) -> frozenset[int]:
        """Return those to work on now; none when it is not sure that they are still its own."""
        return self._membership.held(self._work)

    def is_sure(self) -> bool:
        """Whether nobody else can have taken them yet."""
        return self._membership.is_sure()

    def using(self) -> AbstractContextManager[frozenset[int]]:
        """Give those to work on; none of them passes to another process within the block."""
        return self._membership.using(self._work)

    def begin(self, number: int) -> None:
        """Keep a share from passing to another process in order, until `end`."""
        self._membership.keep(self._work, number, 1)

    def end(self, number: int) -> None:
        """Let a share go that `begin` kept."""
        self._membership.keep(self._work, number, -1)
