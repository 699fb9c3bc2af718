"""Those who use the service while it is being killed. They insist until they are served."""

from __future__ import annotations

import random
import threading
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable
from typing import Any, Final, TypeVar

from geocast.bench.chaos.judge import Heard
from geocast.bench.chaos.world import Interest, interest, publication
from geocast.client import Client
from geocast.errors import ServiceError
from geocast.model import now

__all__ = ["Actor", "Listener", "Probe", "Publisher", "Subscriber"]

T = TypeVar("T")
_AGAIN_SECONDS: Final = 0.2
_PATIENCE_SECONDS: Final = 600.0
_LOOK_SECONDS: Final = 0.05
_FAR_POINT: Final = [-100.0, 5.0]
_FAR_AWAY: Final = {
    "type": "Polygon",
    "coordinates": [[[-101, 4], [-99, 4], [-99, 6], [-101, 6], [-101, 4]]],
}
_GONE: Final = 404
_TAKEN: Final = 409
_TEMPORARY: Final = frozenset({429, 500, 502, 503, 504})


class Actor(ABC, threading.Thread):
    """A thread that acts until it is told to stop; `failure` is what it died of, if it did."""

    def __init__(self, client: Client, seed: int) -> None:
        super().__init__(daemon=True)
        self.client = client
        self.chance = random.Random(seed)
        self.failure: BaseException | None = None
        self._done = threading.Event()

    @abstractmethod
    def act(self) -> None:
        """Do one thing."""

    def run(self) -> None:
        """Act again and again."""
        try:
            while not self._done.is_set():
                self.act()
        except BaseException as error:
            self.failure = error

    def finish(self) -> None:
        """Stop after what is being done."""
        self._done.set()

    def pause(self, seconds: float) -> None:
        """Wait about so long, or until told to stop."""
        self._done.wait(self.chance.expovariate(1 / seconds))

    def insist(self, action: Callable[[], T]) -> T:
        """Try until it is done, whatever happens to the service."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while True:
            try:
                return action()
            except ServiceError as error:
                given_up = time.monotonic() > deadline
                if given_up or not (error.status is None or error.status in _TEMPORARY):
                    raise
            time.sleep(_AGAIN_SECONDS)


class Publisher(Actor):
    """Publishes a few features at a time, and now and then withdraws one."""

    def __init__(self, client: Client, seed: int, name: str) -> None:
        super().__init__(client, seed)
        self._name = name
        self.accepted: list[str] = []
        self.withdrawn: set[str] = set()

    def act(self) -> None:
        """Publish, and perhaps withdraw."""
        first = len(self.accepted)
        ids = [f"{self._name}-{first + k}" for k in range(self.chance.randint(1, 20))]
        features = [publication(self.chance, identifier) for identifier in ids]
        receipts = self.insist(lambda: self.client.publish_many(features))
        refused = [receipt for receipt in receipts if not receipt.accepted]
        if refused:
            raise AssertionError(f"a good publication was refused: {refused[0]}")
        self.accepted += ids
        if self.chance.random() < 0.1:
            gone = self.chance.choice(self.accepted[-200:])
            self.withdrawn.add(gone)
            self.insist(lambda: self.client.unpublish(gone))
        self.pause(0.2)


class Probe(Publisher):
    """Publishes one thing at a time, where nobody else is, and waits until it is told of it."""

    def __init__(self, client: Client, seed: int) -> None:
        super().__init__(client, seed, "probe")
        made = self.insist(lambda: self.client.subscribe(_FAR_AWAY, "intersects"))
        self.insist(lambda: made.wait_active(None))

    def act(self) -> None:
        """Publish, and wait for the notification."""
        name = f"probe-{len(self.accepted)}"
        place = {"type": "Point", "coordinates": _FAR_POINT}
        feature = {"type": "Feature", "id": name, "geometry": place, "properties": {"level": 0}}
        self.insist(lambda: self.client.publish(feature))
        self.accepted.append(name)
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while not (told := self.insist(lambda: self.client.notifications(limit=100))):
            if time.monotonic() > deadline:
                raise AssertionError(f"{name} was published, but nobody was told")
            time.sleep(_LOOK_SECONDS)
        self.insist(lambda: self.client.acknowledge(*told))


class Subscriber(Actor):
    """Subscribes, changes its mind, unsubscribes.

    `asked` is all that it ever asked for, `standing` the ids that it has not cancelled.
    """

    def __init__(self, client: Client, seed: int, most: int, *, topic: bool = False) -> None:
        super().__init__(client, seed)
        self._most = most
        self._more = {"topic": True} if topic else {}
        self.standing: list[str] = []
        self.asked: list[Interest] = []
        self.ids: list[str] = []
        self.seen_active: dict[tuple[str, int], int] = {}

    def act(self) -> None:
        """Do one of the three, and look at the outcome."""
        choice = self.chance.random()
        if len(self.standing) < 3 or (choice < 0.4 and len(self.standing) < self._most):
            self._subscribe()
        elif choice < 0.7:
            self._change(self.chance.choice(self.standing))
        else:
            gone = self.standing.pop(self.chance.randrange(len(self.standing)))
            self.insist(lambda: self._unsubscribe(gone))
        self.pause(0.5)

    def _subscribe(self) -> None:
        wish, number = self._wish()
        identifier = f"s-{number}"
        self.insist(lambda: self._make(identifier, wish, number))
        self.ids.append(identifier)
        self.standing.append(identifier)
        self._look(identifier)

    def _make(self, identifier: str, wish: Interest, number: int) -> None:
        """Subscribe; an earlier attempt may have arrived although nobody said so."""
        try:
            self.client.subscribe(
                wish.geometry,
                wish.predicate,
                wish.filter,
                id=identifier,
                properties=self._properties(number),
            )
        except ServiceError as error:
            if error.status != _TAKEN:
                raise

    def _unsubscribe(self, identifier: str) -> None:
        """Unsubscribe; an earlier attempt may have arrived although nobody said so."""
        try:
            self.client.unsubscribe(identifier)
        except ServiceError as error:
            if error.status != _GONE:
                raise

    def _change(self, identifier: str) -> None:
        wish, number = self._wish()
        self.insist(
            lambda: self.client.change(
                identifier,
                wish.geometry,
                wish.predicate,
                wish.filter,
                properties=self._properties(number),
            )
        )
        self._look(identifier)

    def _properties(self, number: int) -> dict[str, Any]:
        return {"asked": number, **self._more}

    def _wish(self) -> tuple[Interest, int]:
        self.asked.append(interest(self.chance))
        return self.asked[-1], len(self.asked) - 1

    def _look(self, identifier: str) -> None:
        """Note when the subscription was seen active: whatever is published later must match."""
        if self.chance.random() < 0.5:
            return
        seen = self.insist(lambda: self.client.subscription(identifier).wait_active(None))
        self.seen_active[identifier, seen.facts.version] = now()


class Listener(Actor):
    """Listens to everything that the account is told, over server-sent events."""

    def __init__(self, client: Client, seed: int) -> None:
        super().__init__(client, seed)
        self.matches: Counter[Heard] = Counter()
        self.withdrawals: Counter[Heard] = Counter()

    def act(self) -> None:
        """Listen until the client is closed; it comes back by itself after a break."""
        for told in self.client.listen():
            heard = self.matches if told.kind == "match" else self.withdrawals
            heard[told.publication, told.subscription, told.version] += 1
