"""Webhooks: finds the endpoints that have mail and gives each a courier of its own."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import httpx

from geocast.deliver.address import Lookup, system_lookup
from geocast.deliver.connect import CheckedBackend
from geocast.deliver.courier import Courier, Office, is_due
from geocast.deliver.post import LineOptions
from geocast.deliver.shares import AllShares

if TYPE_CHECKING:
    from geocast.deliver.shares import Shares
    from geocast.operate import Settings
    from geocast.repository import Endpoint, Repository

__all__ = ["SHARES", "Webhooks"]

SHARES: Final = 32
"""Into how many shares webhooks are divided, by their numbers."""

_LOOK_SECONDS: Final = 0.1
_ACKNOWLEDGE_SECONDS: Final = 0.05
_ERROR_SECONDS: Final = 1.0
_log: Final = logging.getLogger(__name__)


class Webhooks:
    """Posts notifications to the endpoints that ask for it, all in one event loop.

    There is no limit on how many couriers are busy at once: each waits for its own receiver
    only. At least once: what was posted but not yet acknowledged when the process died is
    posted again, with the same webhook-id. Of several processes each serves the endpoints of its
    `shares`, by default all: one post at a time for each, unless a process is stopped for so long
    that another takes over, and comes back in the middle of a post.
    """

    def __init__(
        self,
        repository: Repository,
        settings: Settings,
        *,
        shares: Shares | None = None,
        lookup: Lookup = system_lookup,
    ) -> None:
        self._repository = repository
        self._shares = shares or AllShares(SHARES)
        self._grace = settings.webhook_timeout
        self._threads = ThreadPoolExecutor(4, thread_name_prefix="webhooks")
        self._couriers: dict[int, tuple[Courier, asyncio.Task[None]]] = {}
        private = settings.allow_private_webhooks
        line = LineOptions(
            timeout=settings.webhook_timeout,
            allow_private=private,
            network=CheckedBackend(private, lookup=lookup),
            certificates=httpx.create_ssl_context(),
        )
        self._office = Office(
            repository=repository,
            waits=settings.webhook_waits,
            line=line,
            in_thread=self._in_thread,
            serves=self._serves,
        )

    async def run(self, stop: threading.Event) -> None:
        """Send until told to stop; posts under way then get their time to end."""
        others = [
            asyncio.create_task(self._acknowledge_regularly()),
            asyncio.create_task(self._stop_others()),
        ]
        try:
            while not stop.is_set():
                await asyncio.sleep(await self._look())
            await self._finish()
        finally:
            tasks = [*others, *(task for _, task in self._couriers.values())]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self._threads.shutdown(wait=False)

    async def _look(self) -> float:
        """Wake the couriers of endpoints that are due; returns when to look again."""
        try:
            found = await self._in_thread(self._repository.endpoints.active_with_mail)
        except Exception:
            _log.exception("cannot look for webhooks with mail; trying again")
            return _ERROR_SECONDS
        for endpoint in found:
            if is_due(endpoint) and not endpoint.topic and self._serves(endpoint.number):
                self._courier(endpoint).wake()
        return _LOOK_SECONDS

    def _serves(self, number: int) -> bool:
        return number % SHARES in self._shares.held()

    async def _stop_others(self) -> None:
        """End the couriers of endpoints that another process is to serve, or may serve already."""
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            for number, (courier, task) in list(self._couriers.items()):
                if not self._shares.is_sure():
                    task.cancel()
                elif not self._serves(number):
                    courier.stop()

    def _courier(self, endpoint: Endpoint) -> Courier:
        courier, task = self._couriers.get(endpoint.number, (None, None))
        if courier is None or task is None or task.done():
            courier = Courier(endpoint.account, endpoint.number, self._office)
            task = asyncio.create_task(courier.run(), name=f"webhook-{endpoint.number}")
            task.add_done_callback(partial(self._ended, endpoint.number))
            self._couriers[endpoint.number] = courier, task
            self._shares.begin(endpoint.number % SHARES)
        return courier

    def _ended(self, number: int, task: asyncio.Task[None]) -> None:
        self._shares.end(number % SHARES)
        if number in self._couriers and self._couriers[number][1] is task:
            del self._couriers[number]
        if not task.cancelled() and task.exception() is not None:
            _log.error("the courier of webhook %d ended", number, exc_info=task.exception())

    async def _acknowledge_regularly(self) -> None:
        """Acknowledge for all couriers in turn, also while they wait for their receivers."""
        while True:
            await asyncio.sleep(_ACKNOWLEDGE_SECONDS)
            for courier, _ in list(self._couriers.values()):
                try:
                    await courier.acknowledge()
                except Exception:
                    _log.exception("cannot acknowledge; trying again")
                    await asyncio.sleep(_ERROR_SECONDS)

    async def _finish(self) -> None:
        tasks = [task for _, task in self._couriers.values()]
        for courier, _ in self._couriers.values():
            courier.stop()
        if tasks:
            await asyncio.wait(tasks, timeout=self._grace)

    async def _in_thread(self, call: Callable[..., Any], *args: Any, **named: Any) -> Any:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, partial(call, *args, **named))
