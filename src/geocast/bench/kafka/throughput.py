"""How fast publications that stand in the topic are matched, and their matches delivered."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from typing import Final

from geocast.bench.kafka.publisher import publish_all
from geocast.bench.kafka.scene import ACCOUNT, KafkaScene
from geocast.bench.kafka.system import MATCHING, KafkaService
from geocast.bench.kafka.usage import Meter, RoleUsage
from geocast.deliver.mail import CONSUMER
from geocast.errors import GeocastError
from geocast.log import Log, matches, publications
from geocast.pipeline.checkpoint import committed
from geocast.repository import Repository

__all__ = ["Round", "Throughput", "measure_throughput", "warm_up"]

_POLL_SECONDS: Final = 0.02
_LONGEST: Final = 1_800.0


@dataclass(frozen=True, slots=True)
class Round:
    """One thing done with all publications, and what it took by the clock and of processors."""

    name: str
    publications: int
    matches: int
    seconds: float
    usage: list[RoleUsage]

    @property
    def rate(self) -> float:
        """Publications a second."""
        return self.publications / self.seconds


@dataclass(frozen=True, slots=True)
class Throughput:
    """Publications in the topic to matches in the topic; then those to the subscriber.

    `fresh` is the first time, `again` the same geometries once more; both are delivered together.
    """

    fresh: Round
    again: Round
    delivered: Round


def warm_up(service: KafkaService, scene: KafkaScene) -> None:
    """Publish the first part of a scene, and wait until all of it has arrived."""
    records = [scene.record(f"w{row}", row) for row in range(scene.warm)]
    publish_all(service.options, service.publications, records)
    with _looking(service) as look:
        look.wait_matched()
        look.wait_delivered()


def measure_throughput(service: KafkaService, scene: KafkaScene) -> Throughput:
    """Match all publications twice while the delivery rests, then deliver; all counts checked."""
    rows = range(scene.warm, len(scene.geometries))
    count = int(scene.matches[scene.warm :].sum())
    with _looking(service) as look:
        with ExitStack() as stack:
            with service.held(["deliver"]):
                fresh, again = (
                    _matched(service, scene, look, rows, name) for name in ("fresh", "again")
                )
                before = look.cursor()
                meter = stack.enter_context(Meter(service))
            began = time.monotonic()
            look.wait_delivered()
            seconds = time.monotonic() - began
        found = look.cursor() - before
    if found != 2 * count:
        raise GeocastError(f"{2 * count:,} matches were to be delivered, not {found:,}")
    delivered = Round("delivered", 2 * len(rows), found, seconds, meter.usage())
    return Throughput(fresh, again, delivered)


def _matched(
    service: KafkaService, scene: KafkaScene, look: _Look, rows: range, name: str
) -> Round:
    records = [scene.record(f"{name}{row}", row) for row in rows]
    with ExitStack() as stack:
        with service.held(MATCHING):
            publish_all(service.options, service.publications, records)
            meter = stack.enter_context(Meter(service))
        began = time.monotonic()
        look.wait_matched()
        seconds = time.monotonic() - began
    count = int(scene.matches[rows.start : rows.stop].sum())
    return Round(name, len(rows), count, seconds, meter.usage())


class _Look:
    """Tells how far a service has come; what stands in the topic was written before."""

    def __init__(self, service: KafkaService, published: Log, repository: Repository) -> None:
        self._service = service
        self._published = published
        self._repository = repository

    def wait_matched(self) -> None:
        """Wait until all publications are matched."""
        ends = self._published.ends()
        checkpoint = self._service.place.checkpoint
        _wait(lambda: committed(checkpoint, len(ends)) == ends, "matched")

    def wait_delivered(self) -> None:
        """Wait until all matches have been in the repository, and nothing waits there."""
        with closing(matches(self._service.place, self._service.settings).open()) as log:
            ends = log.ends()
            last = [log.tail(number, 0, end, max_records=1) for number, end in enumerate(ends)]
        stops = [batch["offset"][0].as_py() + 1 if batch.num_rows else 0 for batch in last]
        mailbox = self._repository.mailbox

        def moved() -> bool:
            return all(mailbox.position(CONSUMER, at) >= stop for at, stop in enumerate(stops))

        _wait(lambda: moved() and not mailbox.depth(self._account), "delivered")

    def cursor(self) -> int:
        """Return how many notifications there have ever been."""
        return self._repository.mailbox.latest()

    @property
    def _account(self) -> int:
        account = self._repository.accounts.get(ACCOUNT)
        assert account is not None
        return account.number


@contextmanager
def _looking(service: KafkaService) -> Iterator[_Look]:
    published = publications(service.place, service.settings).open_existing()
    with closing(published), closing(Repository.open(service.place.repository)) as repository:
        yield _Look(service, published, repository)


def _wait(done: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + _LONGEST
    while not done():
        if time.monotonic() > deadline:
            raise GeocastError(f"not everything is {what} after {_LONGEST:.0f} s")
        time.sleep(_POLL_SECONDS)
