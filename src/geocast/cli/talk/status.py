"""The command `geocast status`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final

from geocast.cli.counted import counted
from geocast.cli.talk.connect import DEFAULT_URL, Data, Json, Token, Url, connect

__all__ = ["status"]

_SINGULAR: Final = {"publications": "publication", "matches": "match"}
"""The counts of a batch that are nouns; the others are what became of so many."""


def status(
    json: Json = False, url: Url = DEFAULT_URL, token: Token = None, data: Data = None
) -> None:
    """Show how a service fares: what stands, what waits, what was done last."""
    from geocast.cli.talk.show import for_people, json_line

    with connect(url, token, data) as client:
        found = client.status()
    if not for_people(json):
        print(json_line(found))
        return
    for title, text in _lines(url, found):
        print(f"{title:<14}{text}")


def _lines(url: str, found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    snapshot, mailbox = found["snapshot"], found["mailbox"]
    kept = [range_["end"] - range_["start"] for range_ in found["log"]["partitions"]]
    yield "service", f"{url}, {'ready' if found['ready'] else 'not ready'}"
    yield "deployment", found["deployment"]
    yield "subscriptions", f"{found['subscriptions']:,} (snapshot {snapshot['version']})"
    partitions = counted(len(kept), "partition")
    yield "log", f"{counted(sum(kept), 'publication')} in {partitions}"
    waiting = counted(mailbox["waiting"], "notification waits", "notifications wait")
    yield "mailbox", f"{waiting} to be acknowledged"
    yield "dead letters", f"{found['dead_letters']:,}"
    webhooks = found["webhooks"]
    yield "webhooks", f"{webhooks['active']:,} active, {webhooks['parked']:,} parked"
    yield "streams", f"{found['streams']:,} open"
    if batches := found["batches"]:
        yield "last batch", _batch(max(batches, key=lambda batch: int(batch["batch"])))


def _batch(batch: dict[str, Any]) -> str:
    from geocast.cli.talk.show import moment

    start = datetime.fromisoformat(batch["pinned"])
    if batch["finished"] is None:
        return f"{batch['batch']}: since {moment(start)}, not finished"
    end = datetime.fromisoformat(batch["finished"])
    counts = ", ".join(
        counted(number, _SINGULAR.get(name, name), name)
        for name, number in (batch["counts"] or {}).items()
    )
    took = (end - start).total_seconds()
    return f"{batch['batch']}: {counts}, in {took:.2f} s, {moment(end)}"
