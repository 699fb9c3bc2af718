"""Notifications to those who are connected: one poller for all open sessions of a process."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

from geocast.errors import UnavailableError
from geocast.repository import MOST_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from geocast.model import Notification
    from geocast.repository import Repository

__all__ = ["LiveFeed"]

_T = TypeVar("_T")
_ERROR_SECONDS: Final = 1.0
_log: Final = logging.getLogger(__name__)


class LiveFeed:
    """Feeds any number of sessions from the mailboxes, within one event loop.

    While at least one session is open, a single task looks for news every `period` seconds and
    wakes the sessions of the accounts that have some; with no session open nothing runs.
    A batch has at most `limit` notifications.
    """

    def __init__(
        self, repository: Repository, *, period: float = 0.02, limit: int = 1_000, threads: int = 4
    ) -> None:
        self._repository = repository
        self._period = period
        self._limit = limit
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="live")
        self._sessions: defaultdict[int, set[asyncio.Event]] = defaultdict(set)
        self._poller: asyncio.Task[None] | None = None
        self._closed = False

    @property
    def sessions(self) -> int:
        """How many sessions are open."""
        return sum(len(events) for events in self._sessions.values())

    async def notifications(
        self,
        account: int,
        after: int = 0,
        subscription: str | None = None,
        *,
        heartbeat: float | None = None,
    ) -> AsyncGenerator[list[Notification], None]:
        """Yield the account's notifications above a cursor, in order, as they come.

        Each batch is marked as delivered before it is yielded; what was withdrawn by then is not
        in it. After `heartbeat` seconds without a batch an empty one is yielded. Ends when the
        feed is closed; a caller that leaves earlier closes the iterator (`contextlib.aclosing`).
        """
        with self._session(account) as news:
            silent_until = _after(heartbeat)
            while not self._closed:
                news.clear()
                take = partial(self._take, account, after, subscription)
                after, full, standing = await self._patiently(take, after)
                if standing:
                    yield standing
                    silent_until = _after(heartbeat)
                if not full and not await _set_before(news, silent_until):
                    yield []
                    silent_until = _after(heartbeat)

    async def _patiently(
        self, take: Callable[[], tuple[int, bool, list[Notification]]], after: int
    ) -> tuple[int, bool, list[Notification]]:
        """What `take` returns; while the repository cannot be reached, nothing, but there is more.

        A session outlives a restart of the database: nothing is sent that was not marked.
        """
        try:
            return await self._in_thread(take)
        except UnavailableError as error:
            _log.warning("%s; trying again", error)
            await asyncio.sleep(_ERROR_SECONDS)
            return after, True, []

    def _take(
        self, account: int, after: int, subscription: str | None
    ) -> tuple[int, bool, list[Notification]]:
        """Read what follows a cursor and mark it; return how far, if there is more, and what."""
        mailbox = self._repository.mailbox
        rows = mailbox.read(account, after=after, limit=self._limit, subscription=subscription)
        if not rows:
            return after, False, []
        standing = mailbox.mark_delivered(account, rows)
        # Fewer than asked for may be returned where they are large.
        large = sum(len(row.feature) for row in rows) > MOST_BYTES // 2
        return rows[-1].cursor, large or len(rows) == self._limit, standing

    @contextmanager
    def _session(self, account: int) -> Iterator[asyncio.Event]:
        news = asyncio.Event()
        self._sessions[account].add(news)
        if self._poller is None:
            self._poller = asyncio.create_task(self._poll(), name="live-feed")
        try:
            yield news
        finally:
            self._sessions[account].discard(news)
            if not self._sessions[account]:
                del self._sessions[account]
            if not self._sessions and self._poller is not None:
                self._poller.cancel()
                self._poller = None

    async def _poll(self) -> None:
        """Wake whoever has news; the first look wakes all, for what came before it."""
        seen: int | None = None
        while True:
            try:
                seen = await self._look(seen)
                await asyncio.sleep(self._period)
            except Exception:
                _log.exception("cannot look for new notifications; trying again")
                await asyncio.sleep(_ERROR_SECONDS)

    async def _look(self, seen: int | None) -> int:
        mailbox = self._repository.mailbox
        latest = await self._in_thread(mailbox.latest)
        if seen is None:
            self._wake(list(self._sessions))
        elif latest > seen:
            self._wake(list(await self._in_thread(partial(mailbox.accounts_after, seen))))
        return latest if seen is None else max(latest, seen)

    def _wake(self, accounts: list[int]) -> None:
        for account in accounts:
            for news in self._sessions.get(account, ()):
                news.set()

    async def _in_thread(self, call: Callable[[], _T]) -> _T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, call)

    async def close(self) -> None:
        """End all sessions: their iterators stop after what they are busy with."""
        self._closed = True
        poller, self._poller = self._poller, None
        if poller is not None:
            poller.cancel()
            with suppress(asyncio.CancelledError):
                await poller
        self._wake(list(self._sessions))
        self._threads.shutdown(wait=False)


def _after(seconds: float | None) -> float | None:
    """The time of the event loop after so many seconds; None is never."""
    return None if seconds is None else asyncio.get_running_loop().time() + seconds


async def _set_before(event: asyncio.Event, deadline: float | None) -> bool:
    """Wait for an event; False once the deadline has passed, also if the event is set by then."""
    if deadline is not None and deadline <= asyncio.get_running_loop().time():
        return False
    try:
        async with asyncio.timeout_at(deadline):
            await event.wait()
    except TimeoutError:
        return False
    return True
