"""What `geocast listen` does: print notifications as they come."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

from geocast.cli.counted import counted
from geocast.cli.talk.connect import complaints, connect_async
from geocast.cli.talk.show import for_people, json_line, notification_line
from geocast.client import AsyncClient
from geocast.errors import GeocastError

__all__ = ["Listening", "run_listening"]


@dataclass(frozen=True, slots=True)
class Listening:
    """What to listen to, and for how long."""

    subscription: str | None = None
    after: int | None = None
    json: bool = False
    count: int | None = None
    timeout: float | None = None
    acknowledge: bool = True


def run_listening(url: str, token: str | None, data: Path | None, wanted: Listening) -> None:
    """Print notifications until it is enough; raises GeocastError where fewer than asked came."""
    with complaints():
        found = asyncio.run(_run(connect_async(url, token, data), wanted))
    if wanted.count is not None and found < wanted.count:
        asked = counted(wanted.count, "notification")
        raise GeocastError(f"{found:,} of {asked} within {wanted.timeout:g} s")


async def _run(client: AsyncClient, wanted: Listening) -> int:
    printed: list[int] = []
    try:
        async with client, asyncio.timeout(wanted.timeout):
            await _print(client, wanted, printed)
    except TimeoutError:
        pass
    return len(printed)


async def _print(client: AsyncClient, wanted: Listening, printed: list[int]) -> None:
    people = for_people(wanted.json)
    notifications = client.listen(
        subscription=wanted.subscription, after=wanted.after, acknowledge=wanted.acknowledge
    )
    async with aclosing(notifications):
        async for each in notifications:
            print(notification_line(each) if people else json_line(each.event), flush=True)
            printed.append(each.cursor)
            if len(printed) == wanted.count:
                break
    if wanted.acknowledge and printed:
        await client.acknowledge(printed[-1])
