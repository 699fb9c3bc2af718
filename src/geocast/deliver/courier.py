"""One webhook's courier: a task of its own, so that a slow or dead receiver delays nobody else."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from geocast.deliver.post import Answer, Line, LineOptions
from geocast.errors import InputError
from geocast.model import MICROSECONDS, Notification, now
from geocast.operate import metrics

if TYPE_CHECKING:
    from geocast.repository import Endpoint, Repository

__all__ = ["Courier", "Office", "is_due"]

_IDLE_SECONDS: Final = 30.0
_GROUP: Final = 50
_ERROR_SECONDS: Final = 1.0
_log: Final = logging.getLogger(__name__)


def is_due(endpoint: Endpoint) -> bool:
    """Whether it may be tried now: it is not parked, and its wait is over."""
    return endpoint.state == "active" and (endpoint.next_try or 0) <= now()


@dataclass(frozen=True, slots=True, kw_only=True)
class Office:
    """What all couriers share. `waits` are the seconds before each further attempt.

    `serves` says whether an endpoint, by its number, is this process's to serve.
    """

    repository: Repository
    waits: tuple[float, ...]
    line: LineOptions
    in_thread: Callable[..., Awaitable[Any]]
    serves: Callable[[int], bool]


class Courier:
    """Sends what waits for one endpoint, in the order of its cursors, one post at a time.

    Attempts and the time of the next one are kept in the repository, so that a restart goes on
    where the schedule was. After the last wait of the schedule, or by the answer 410, the
    endpoint is parked; what waits for it stays in the mailbox.
    """

    def __init__(self, account: int, number: int, office: Office) -> None:
        self._account = account
        self._number = number
        self._office = office
        self._mail = asyncio.Event()
        self._stopping = False
        self._line: Line | None = None
        self._line_of: tuple[str, str] | None = None
        self._accepted: list[int] = []
        self._acknowledging = asyncio.Lock()

    def wake(self) -> None:
        """Say that there is something to send."""
        self._mail.set()

    def stop(self) -> None:
        """Ask the courier to end after the post that it is busy with."""
        self._stopping = True
        self._mail.set()

    async def run(self) -> None:
        """Work whenever woken; ends by itself after a while without mail."""
        try:
            while await self._woken() and not self._stopping:
                try:
                    await self._work()
                except Exception:
                    _log.exception("webhook %d is interrupted; trying again", self._number)
                    await asyncio.sleep(_ERROR_SECONDS)
        finally:
            await self.acknowledge()
            await self._hang_up()

    async def acknowledge(self) -> None:
        """Take what the receiver accepted so far out of the mailbox."""
        async with self._acknowledging:
            cursors = list(self._accepted)
            if cursors:
                mailbox = self._office.repository.mailbox
                await self._office.in_thread(mailbox.acknowledge, self._account, cursors=cursors)
                del self._accepted[: len(cursors)]

    async def _woken(self) -> bool:
        try:
            async with asyncio.timeout(_IDLE_SECONDS):
                await self._mail.wait()
        except TimeoutError:
            return False
        self._mail.clear()
        return True

    async def _work(self) -> None:
        while not self._stopping:
            await self.acknowledge()
            endpoint, group = await self._office.in_thread(self._take)
            if not group or not await self._send(endpoint, group):
                return

    def _take(self) -> tuple[Endpoint | None, list[Notification]]:
        """The endpoint as it is now, and what to send to it next.

        One that failed gets one notification at a time: what it will hardly take should not
        count as delivered.
        """
        repository, number = self._office.repository, self._number
        endpoint = repository.endpoints.get(self._account, number)
        if endpoint is None or not is_due(endpoint) or not self._office.serves(number):
            return endpoint, []
        limit = 1 if endpoint.attempts else _GROUP
        while rows := repository.mailbox.read(self._account, endpoint=number, limit=limit):
            if standing := repository.mailbox.mark_delivered(self._account, rows):
                return endpoint, standing
        return endpoint, []

    async def _send(self, endpoint: Endpoint, group: list[Notification]) -> bool:
        try:
            line = await self._line_to(endpoint)
        except InputError as error:
            await self._park(str(error))
            return False
        for notification in group:
            answer = await line.post(notification)
            if not answer.accepted:
                await self._failed(endpoint, answer)
                return False
            self._accepted.append(notification.cursor)
            _count(notification)
            endpoint = await self._succeeded(endpoint, answer)
            if self._stopping or not self._office.serves(self._number):
                break
        return True

    async def _line_to(self, endpoint: Endpoint) -> Line:
        """The kept line, or a new one where URL or secret are others than before."""
        wanted = (endpoint.url, endpoint.secret)
        if self._line is None or self._line_of != wanted:
            await self._hang_up()
            self._line = Line(endpoint.url, endpoint.secret, self._office.line)
            self._line_of = wanted
        return self._line

    async def _hang_up(self) -> None:
        line, self._line = self._line, None
        if line is not None:
            await line.close()

    async def _succeeded(self, endpoint: Endpoint, answer: Answer) -> Endpoint:
        """Record the first success after anything else; returns the endpoint as it is then."""
        healthy = replace(endpoint, attempts=0, last_error=None, last_status=answer.status)
        if healthy != endpoint:
            succeeded = self._office.repository.endpoints.succeeded
            await self._office.in_thread(succeeded, self._number, status=answer.status)
        return healthy

    async def _failed(self, endpoint: Endpoint, answer: Answer) -> None:
        waits = self._office.waits
        if answer.gone or endpoint.attempts >= len(waits):
            await self._park(str(answer), answer.status)
            return
        next_try = now() + int(waits[endpoint.attempts] * MICROSECONDS)
        failed = self._office.repository.endpoints.failed
        await self._office.in_thread(
            failed, self._number, str(answer), next_try, status=answer.status
        )

    async def _park(self, reason: str, status: int | None = None) -> None:
        _log.warning("webhook %d is parked: %s", self._number, reason)
        park = self._office.repository.endpoints.park
        await self._office.in_thread(park, self._number, reason, status=status)


def _count(notification: Notification) -> None:
    metrics().notifications.labels(channel="webhook").inc()
    delay = (now() - notification.published) / MICROSECONDS
    metrics().delay.labels(channel="webhook").observe(delay)
