"""What `geocast publish` does: read, publish, report."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from geocast.cli.counted import counted
from geocast.cli.progress import Step, open_steps
from geocast.cli.talk.connect import explained
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
    with _progress(size) as step:
        try:
            _publish(client, batches, tally, step, ids)
        except (InputError, ServiceError) as error:
            raise _after(error, tally) from error
    _report(path, tally, time.monotonic() - start)


@contextmanager
def _progress(size: int | None) -> Iterator[Step | None]:
    """Give what shows how far it is; None where nobody watches, since the report tells it all."""
    if not sys.stderr.isatty():
        yield None
        return
    with open_steps() as steps, steps.step("publishing", size) as step:
        yield step


def _publish(
    client: Client, batches: Iterator[Batch], tally: _Tally, step: Step | None, ids: bool
) -> None:
    for batch in batches:
        for row, identifier, reason in batch.bad:
            tally.reject(row, identifier, reason)
        for receipt in client.publish_each(batch.features):
            tally.add(receipt, batch.rows[receipt.index])
            if ids and receipt.accepted:
                print(receipt.id)
        sys.stdout.flush()
        if step is not None:
            step.update(batch.position, str(tally))


def _after(error: GeocastError, tally: _Tally) -> GeocastError:
    """Return the error with what was done before it happened."""
    found = explained(error) if isinstance(error, ServiceError) else error
    message = f"{found}; before that: {tally}"
    if isinstance(found, ServiceError):
        return ServiceError(message, status=found.status, problem=found.problem)
    return InputError(message)


def _report(path: str, tally: _Tally, seconds: float) -> None:
    place = "standard input" if path == "-" else path
    if tally.rejected:
        first = "; the first:" if tally.rejected > len(tally.shown) else ":"
        head = f"{counted(tally.rejected, 'feature')} rejected{first}"
        print("\n".join([head, *tally.shown]), file=sys.stderr)
    print(f"{place}: {tally}, in {seconds:.1f} s", file=sys.stderr)
    if tally.rejected and not tally.published and not tally.known:
        raise InputError(f"{place}: none of the features can be used")
