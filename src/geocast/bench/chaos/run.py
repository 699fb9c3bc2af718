"""Break, again and again, while the service is used; then compare everything with the judge."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from typing import Final

from geocast.bench.chaos.actors import Actor, Listener, Probe, Publisher, Subscriber
from geocast.bench.chaos.system import System
from geocast.bench.chaos.trial import Account, Verdict, judge
from geocast.errors import GeocastError
from geocast.repository import Repository

__all__ = ["run_chaos"]

_SETTLE_SECONDS: Final = 600.0
_LEAVE_SECONDS: Final = 10.0
_LOOK_SECONDS: Final = 1.0
_ON_TOP: Final = 0.3
"""How often the next fault comes before the last one is mended."""


def run_chaos(
    system: System, kills: int, seed: int, say: Callable[[str], None] = lambda _: None
) -> Verdict:
    """Break a running system `kills` times while it is used, and judge."""
    verdict = Verdict()
    publishers, accounts = _people(system, seed)
    probe = _probe(system, seed)
    actors: list[Actor] = [*publishers, *(account.subscriber for account in accounts)]
    actors += [account.listener for account in accounts if account.listener is not None]
    for actor in actors:
        actor.start()
    try:
        _break(system, probe, kills, random.Random(seed), verdict, say)
        say("settling")
        _bring_back(system)
        with _looked_after(system):
            _settle(system, publishers, accounts)
        say("judging")
        judge(system, [*publishers, probe], accounts, verdict)
    finally:
        _dismiss([*actors, probe])
    return verdict


def _dismiss(actors: list[Actor]) -> None:
    """Let everybody go home."""
    for actor in actors:
        actor.finish()
    for actor in actors:
        actor.client.close()
        if actor.is_alive():
            actor.join(_LEAVE_SECONDS)


def _people(system: System, seed: int) -> tuple[list[Publisher], list[Account]]:
    """Make two publishers, two who only have a mailbox, two who listen; two topics if any."""
    publishers = []
    for k in range(2):
        token = system.new_account(f"publisher-{k}", "publish")
        publishers.append(Publisher(system.client(token), seed + k, f"p{k}"))
    accounts = []
    names = ["mail-0", "mail-1", "live-0", "live-1"]
    names += ["topic-0", "topic-1"] if system.settings.log else []
    for k, name in enumerate(names):
        token = system.new_account(name, "subscribe")
        topic = name.startswith("topic")
        subscriber = Subscriber(system.client(token), seed + 100 + k, 30, topic=topic)
        live = name.startswith("live")
        listener = Listener(system.client(token), seed + 200 + k) if live else None
        accounts.append(Account(name, _number(system, name), subscriber, listener, topic))
    return publishers, accounts


def _probe(system: System, seed: int) -> Probe:
    return Probe(system.client(system.new_account("probe")), seed + 300)


def _number(system: System, name: str) -> int:
    with closing(Repository.open(system.place.repository)) as repository:
        account = repository.accounts.get(name)
        assert account is not None
        return account.number


def _break(
    system: System,
    probe: Probe,
    kills: int,
    chance: random.Random,
    verdict: Verdict,
    say: Callable[[str], None],
) -> None:
    faults, weights = list(system.faults), list(system.faults.values())
    while (done := sum(verdict.kills.values())) < kills:
        time.sleep(chance.uniform(0.2, 3))
        fault = chance.choices(faults, weights)[0]
        if not system.inflict(fault, chance):
            system.mend()
            continue
        verdict.kills[fault] += 1
        say(f"{done + 1}/{kills}: {fault}")
        if chance.random() < _ON_TOP:
            continue
        began = time.monotonic()
        _bring_back(system)
        with _looked_after(system):
            probe.act()
        verdict.recovery.setdefault(fault, []).append(time.monotonic() - began)


def _bring_back(system: System) -> None:
    """Start what has to be started, until all is ready: it may end after it was looked at."""
    for is_last in (False, False, True):
        system.mend()
        try:
            system.wait_ready()
        except GeocastError:
            if is_last:
                raise
        else:
            return


@contextmanager
def _looked_after(system: System) -> Iterator[None]:
    """Start again what ends meanwhile, as whoever runs a service does."""
    done = threading.Event()

    def look() -> None:
        while not done.wait(_LOOK_SECONDS):
            system.mend()

    with ThreadPoolExecutor(1) as pool:
        keeper = pool.submit(look)
        try:
            yield
        finally:
            done.set()
        keeper.result()


def _settle(system: System, publishers: list[Publisher], accounts: list[Account]) -> None:
    """Let everybody finish what they are doing, and the service deliver everything."""
    acting: list[Actor] = [*publishers, *(account.subscriber for account in accounts)]
    for actor in acting:
        actor.finish()
    for actor in acting:
        actor.join(_SETTLE_SECONDS)
        if actor.failure is not None:
            raise actor.failure
        if actor.is_alive():
            raise AssertionError(f"{type(actor).__name__} is still not served")
    system.wait_idle(_SETTLE_SECONDS)
    deadline = time.monotonic() + _SETTLE_SECONDS
    with closing(Repository.open(system.place.repository)) as repository:
        for account in accounts:
            emptied = account.topic or account.listener is not None
            while emptied and repository.mailbox.depth(account.number):
                if account.listener is not None and account.listener.failure is not None:
                    raise account.listener.failure
                if time.monotonic() > deadline:
                    break
                time.sleep(0.2)
