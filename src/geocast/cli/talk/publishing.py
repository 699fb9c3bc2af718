"""What `geocast publish` does: read, publish, report."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from geocast.cli.progress import Step, open_steps
from geocast.cli.talk.features import Batch, read_features
from geocast.client import Client, Receipt
from geocast.errors import GeocastError, InputError, ServiceError
from geocast.files import input_size

__all__ = ["publish_file"]

_SHOWN = 5


@dataclass(slots=True)
class _Tally:
    """What became of the features so far; `shown` are the first that were rejected."""

    published: int = 0
    known: int = 0
    rejected: int = 0
    shown: list[str] = field(default_factory=list)

    def add(self, receipt: Receipt, row: int) -> None:
        if receipt.reason is not None:
            self.reject(row, receipt.id, receipt.reason)
        elif receipt.duplicate:
            self.known += 1
        else:
            self.published += 1

    def reject(self, row: int, identifier: str | None, reason: str) -> None:
        self.rejected += 1
        if len(self.shown) < _SHOWN:
            name = "" if identifier is None else f" (id {identifier!r})"
            self.shown.append(f"  row {row}{name}: {reason}")

    def __str__(self) -> str:
        return f"{self.published:,} published, {self.known:,} known, {self.rejected:,} rejected"


def publish_file(client: Client, path: str, ids: bool) -> None:
    """Publish all features; raises InputError where none of them could be used."""
    start, tally = time.monotonic(), _Tally()
    batches = read_features(path)
    client.me()
    size = None if path == "-" else input_size(path)
    with open_steps() as steps, steps.step("publishing", size) as step:
        try:
            _publish(client, batches, tally, step, ids)
        except (InputError, ServiceError) as error:
            raise _after(error, tally) from error
    _report(path, tally, time.monotonic() - start)


def _publish(
    client: Client, batches: Iterator[Batch], tally: _Tally, step: Step, ids: bool
) -> None:
    for batch in batches:
        for row, identifier, reason in batch.bad:
            tally.reject(row, identifier, reason)
        for receipt in client.publish_each(batch.features):
            tally.add(receipt, batch.rows[receipt.index])
            if ids and receipt.accepted:
                print(receipt.id)
        sys.stdout.flush()
        step.update(batch.position, str(tally))


def _after(error: GeocastError, tally: _Tally) -> GeocastError:
    """Return the error with what was done before it happened."""
    message = f"{error}; before that: {tally}"
    if isinstance(error, ServiceError):
        return ServiceError(message, status=error.status, problem=error.problem)
    return InputError(message)


def _report(path: str, tally: _Tally, seconds: float) -> None:
    place = "standard input" if path == "-" else path
    if tally.rejected:
        lines = [f"{tally.rejected:,} features rejected; the first:", *tally.shown]
        print("\n".join(lines), file=sys.stderr)
    print(f"{place}: {tally}, in {seconds:.1f} s", file=sys.stderr)
    if tally.rejected and not tally.published and not tally.known:
        raise InputError(f"{place}: none of the features can be used")
