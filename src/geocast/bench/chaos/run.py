"""Kill, again and again, while the service is used; then compare everything with the judge."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from geocast.bench.chaos.actors import Actor, Listener, Publisher, Subscriber
from geocast.bench.chaos.judge import (
    Heard,
    Published,
    Stood,
    Wrong,
    compare,
    expected,
    late_activations,
    published,
)
from geocast.bench.service import ServiceUnderTest
from geocast.log import SqliteLog
from geocast.pipeline.live import QUERY
from geocast.repository import Repository

__all__ = ["Verdict", "run_chaos"]

_TARGETS: Final = {"worker": 4, "pipeline": 2, "gateway": 4, "deliver": 4, "java": 1, "all": 1}
_SETTLE_SECONDS: Final = 180.0
_LEAVE_SECONDS: Final = 10.0
_PAGE: Final = 1000


@dataclass(slots=True)
class Verdict:
    """What was done, and what is wrong; nothing should be."""

    kills: Counter[str] = field(default_factory=Counter)
    recovery: dict[str, list[float]] = field(default_factory=dict)
    publications: int = 0
    withdrawn: int = 0
    versions: int = 0
    batches: int = 0
    matches: int = 0
    heard_live: int = 0
    wrong: list[Wrong] = field(default_factory=list)


@dataclass(slots=True)
class _Account:
    name: str
    number: int
    subscriber: Subscriber
    listener: Listener | None


def run_chaos(
    directory: Path, kills: int, seed: int, say: Callable[[str], None] = lambda _: None
) -> Verdict:
    """Run a service in `directory`, kill parts of it `kills` times, and judge."""
    verdict = Verdict()
    with ServiceUnderTest(directory) as service:
        publishers, accounts = _people(service, seed)
        actors: list[Actor] = [*publishers, *(account.subscriber for account in accounts)]
        actors += [account.listener for account in accounts if account.listener is not None]
        for actor in actors:
            actor.start()
        try:
            _kill(service, kills, random.Random(seed), verdict, say)
            say("settling")
            _settle(service, publishers, accounts)
            say("judging")
            _judge(service, publishers, accounts, verdict)
        finally:
            _dismiss(actors)
    return verdict


def _dismiss(actors: list[Actor]) -> None:
    """Let everybody go home."""
    for actor in actors:
        actor.finish()
    for actor in actors:
        actor.client.close()
        actor.join(_LEAVE_SECONDS)


def _people(service: ServiceUnderTest, seed: int) -> tuple[list[Publisher], list[_Account]]:
    """Make two publishers, two who only have a mailbox, and two who listen."""
    publishers = []
    for k in range(2):
        token = service.new_account(f"publisher-{k}", "publish")
        publishers.append(Publisher(service.client(token), seed + k, f"p{k}"))
    accounts = []
    for k, name in enumerate(("mail-0", "mail-1", "live-0", "live-1")):
        token = service.new_account(name, "subscribe")
        subscriber = Subscriber(service.client(token), seed + 100 + k, 30)
        live = name.startswith("live")
        listener = Listener(service.client(token), seed + 200 + k) if live else None
        accounts.append(_Account(name, _number(service, name), subscriber, listener))
    return publishers, accounts


def _number(service: ServiceUnderTest, name: str) -> int:
    with closing(Repository.open(service.place.repository)) as repository:
        account = repository.accounts.get(name)
        assert account is not None
        return account.number


def _kill(
    service: ServiceUnderTest,
    kills: int,
    chance: random.Random,
    verdict: Verdict,
    say: Callable[[str], None],
) -> None:
    targets, weights = list(_TARGETS), list(_TARGETS.values())
    while sum(verdict.kills.values()) < kills:
        time.sleep(chance.uniform(0.2, 3))
        target = chance.choices(targets, weights)[0]
        if not service.kill(target):
            continue
        verdict.kills[target] += 1
        say(f"{sum(verdict.kills.values())}/{kills}: killed {target}")
        began = time.monotonic()
        if target == "all":
            service.start()
        elif chance.random() < 0.3:
            continue
        time.sleep(0.5)
        service.wait_ready()
        verdict.recovery.setdefault(target, []).append(time.monotonic() - began)


def _settle(
    service: ServiceUnderTest, publishers: list[Publisher], accounts: list[_Account]
) -> None:
    """Let everybody finish what they are doing, and the service deliver everything."""
    service.wait_ready()
    acting: list[Actor] = [*publishers, *(account.subscriber for account in accounts)]
    for actor in acting:
        actor.finish()
    for actor in acting:
        actor.join(_SETTLE_SECONDS)
        if actor.failure is not None:
            raise actor.failure
        if actor.is_alive():
            raise AssertionError(f"{type(actor).__name__} is still not served")
    service.wait_idle(_SETTLE_SECONDS)
    deadline = time.monotonic() + _SETTLE_SECONDS
    with closing(Repository.open(service.place.repository)) as repository:
        for account in accounts:
            while account.listener is not None and repository.mailbox.depth(account.number):
                if account.listener.failure is not None:
                    raise account.listener.failure
                if time.monotonic() > deadline:
                    break
                time.sleep(0.2)


def _judge(
    service: ServiceUnderTest,
    publishers: list[Publisher],
    accounts: list[_Account],
    verdict: Verdict,
) -> None:
    with ExitStack() as stack:
        log = stack.enter_context(closing(SqliteLog.open_existing(service.place.publications)))
        repository = stack.enter_context(closing(Repository.open(service.place.repository)))
        events = published(log, repository, QUERY)
        gone = frozenset[str]().union(*(publisher.withdrawn for publisher in publishers))
        verdict.publications = len(events.ids)
        verdict.withdrawn = len(gone)
        verdict.batches = len({*events.batch.tolist()})
        verdict.wrong += _log_is_complete(events, publishers)
        for account in accounts:
            versions = _versions(repository, account)
            verdict.versions += len(versions)
            verdict.wrong += late_activations(events, versions, account.subscriber.seen_active)
            must = expected(events, versions, gone)
            verdict.matches += sum(must.values())
            if account.listener is None:
                verdict.wrong += _judge_mail(account, must, gone)
            else:
                verdict.heard_live += sum(account.listener.matches.values())
                verdict.wrong += _judge_live(account, account.listener, must, gone)


def _log_is_complete(events: Published, publishers: list[Publisher]) -> list[Wrong]:
    there = Counter(events.ids)
    accepted = [identifier for publisher in publishers for identifier in publisher.accepted]
    lost = [identifier for identifier in accepted if identifier not in there]
    wrong = [Wrong("liveness", f"{each} was accepted, but is not in the log") for each in lost]
    repeated = {each: times for each, times in there.items() if times > 1}
    return wrong + [
        Wrong("uniqueness", f"{each} is in the log {times} times")
        for each, times in repeated.items()
    ]


def _versions(repository: Repository, account: _Account) -> list[Stood]:
    found = []
    for identifier in account.subscriber.ids:
        for fact in repository.subscriptions.history(account.number, identifier):
            asked = account.subscriber.asked[fact.wanted.properties["asked"]]
            found.append(
                Stood(
                    identifier, fact.version, asked, fact.activated_snapshot, fact.removed_snapshot
                )
            )
    return found


def _judge_mail(account: _Account, must: Counter[Heard], gone: frozenset[str]) -> list[Wrong]:
    """Judge a mailbox that nobody has read: what was withdrawn has left no trace."""
    heard: Counter[Heard] = Counter()
    wrong, after = [], 0
    while page := account.subscriber.client.notifications(after=after, limit=_PAGE):
        for told in page:
            if told.kind == "withdrawal":
                text = f"{account.name}: a withdrawal of {told.publication}, never told"
                wrong.append(Wrong("legality", text))
            elif told.publication in gone:
                text = f"{account.name}: {told.publication} is withdrawn, but there"
                wrong.append(Wrong("legality", text))
            else:
                heard[told.publication, told.subscription, told.version] += 1
        after = page[-1].cursor
    return wrong + compare(account.name, heard, must)


def _judge_live(
    account: _Account, listener: Listener, must: Counter[Heard], gone: frozenset[str]
) -> list[Wrong]:
    """Judge what was heard live: of what was withdrawn, each match has its withdrawal."""
    heard = Counter({match: n for match, n in listener.matches.items() if match[0] not in gone})
    wrong = compare(account.name, heard, must)
    taken_back = {match for match in listener.matches if match[0] in gone}
    wrong += [
        Wrong("liveness", f"{account.name}: {match} was heard, its withdrawal was not")
        for match in taken_back - set(listener.withdrawals)
    ]
    return wrong + [
        Wrong("uniqueness", f"{account.name}: the withdrawal of {match} was heard {n} times")
        for match, n in listener.withdrawals.items()
        if n > 1
    ]
