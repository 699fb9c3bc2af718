"""The last words of `geocast match`, on standard error: what was rejected, and a summary."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, islice

from geocast.model import Reject
from geocast.pipeline import Piece

__all__ = ["Report", "print_report"]

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Report:
    """The numbers of one run; `shown` are the first of the rejects."""

    publications: int
    matched: int
    pairs: int
    bad_subscriptions: int
    bad_publications: int
    shown: tuple[Reject, ...]
    seconds: float
    rate: float

    @classmethod
    def of(
        cls, refused: Sequence[Reject], pieces: Sequence[Piece], seconds: float, matching: float
    ) -> Report:
        """Sum up the pieces; `refused` are the bad subscriptions."""
        publications = sum(piece.publications for piece in pieces)
        rejects = chain(refused, chain.from_iterable(piece.rejects() for piece in pieces))
        return cls(
            publications=publications,
            matched=sum(piece.matched for piece in pieces),
            pairs=sum(piece.pairs for piece in pieces),
            bad_subscriptions=len(refused),
            bad_publications=sum(piece.rejected for piece in pieces),
            shown=tuple(islice(rejects, _SHOWN)),
            seconds=seconds,
            rate=publications / matching,
        )


def print_report(report: Report, output: str, rejects: str | None) -> None:
    """Write the rejects, if any, and then the summary line."""
    if report.shown:
        print("\n".join(_reject_lines(report, rejects)), file=sys.stderr)
    count = report.bad_subscriptions + report.bad_publications
    place = "standard output" if output == "-" else output
    print(
        f"{place}: {report.publications:,} publications, {report.matched:,} matched, "
        f"{report.pairs:,} pairs, {count:,} rejected, in {report.seconds:.1f} s "
        f"(matching {report.rate:,.0f} publications/s)",
        file=sys.stderr,
    )


def _reject_lines(report: Report, rejects: str | None) -> list[str]:
    count = report.bad_subscriptions + report.bad_publications
    where = f"all are in {rejects}" if rejects else "--rejects FILE writes them all to a file"
    head = (
        f"{count:,} records rejected ({report.bad_subscriptions:,} subscriptions, "
        f"{report.bad_publications:,} publications); {where}; the first:"
    )
    return [head, *(f"  {reject}" for reject in report.shown)]
