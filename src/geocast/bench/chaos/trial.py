"""At the end: what each account was told, against what it had to be told."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from geocast.bench.chaos.actors import Listener, Publisher, Subscriber
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
from geocast.bench.chaos.system import System
from geocast.bench.chaos.topics import read_topic
from geocast.log import publications
from geocast.pipeline.live import QUERY
from geocast.repository import Repository

__all__ = ["Account", "Verdict", "judge"]

_PAGE: Final = 1000
_CANCEL_SECONDS: Final = 60.0


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
    in_topics: int = 0
    wrong: list[Wrong] = field(default_factory=list)


@dataclass(slots=True)
class Account:
    """Somebody who subscribes: with a mailbox only, listening, or with a topic."""

    name: str
    number: int
    subscriber: Subscriber
    listener: Listener | None = None
    topic: bool = False


def judge(
    system: System, publishers: Sequence[Publisher], accounts: Sequence[Account], verdict: Verdict
) -> None:
    """Read the books of a system, and note what they say and what is wrong."""
    with ExitStack() as stack:
        log = stack.enter_context(
            closing(publications(system.place, system.settings).open_existing())
        )
        repository = stack.enter_context(closing(Repository.open(system.place.repository)))
        events = published(log, repository, QUERY)
        gone = frozenset[str]().union(*(publisher.withdrawn for publisher in publishers))
        verdict.publications = len(events.ids)
        verdict.withdrawn = len(gone)
        verdict.batches = len({*events.batch.tolist()})
        verdict.wrong += _log_is_complete(events, publishers)
        for account in accounts:
            verdict.wrong += _overstaying(repository, account)
            versions = _versions(repository, account)
            verdict.versions += len(versions)
            verdict.wrong += late_activations(events, versions, account.subscriber.seen_active)
            must = expected(events, versions, gone)
            verdict.matches += sum(must.values())
            if account.topic:
                told, taken_back = read_topic(system.settings, account.name)
                verdict.in_topics += sum(told.values())
                verdict.wrong += _judge_told(account, told, taken_back, must, gone)
            elif account.listener is None:
                verdict.wrong += _judge_mail(account, must, gone)
            else:
                told, taken_back = account.listener.matches, account.listener.withdrawals
                verdict.heard_live += sum(told.values())
                verdict.wrong += _judge_told(account, told, taken_back, must, gone)


def _log_is_complete(events: Published, publishers: Sequence[Publisher]) -> list[Wrong]:
    there = Counter(events.ids)
    accepted = [identifier for publisher in publishers for identifier in publisher.accepted]
    lost = [identifier for identifier in accepted if identifier not in there]
    wrong = [Wrong("liveness", f"{each} was accepted, but is not in the log") for each in lost]
    repeated = {each: times for each, times in there.items() if times > 1}
    return wrong + [
        Wrong("uniqueness", f"{each} is in the log {times} times")
        for each, times in repeated.items()
    ]


def _versions(repository: Repository, account: Account) -> list[Stood]:
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


def _overstaying(repository: Repository, account: Account) -> list[Wrong]:
    """Return what was cancelled or replaced, and still stands after a while."""
    deadline = time.monotonic() + _CANCEL_SECONDS
    while (found := _still_standing(repository, account)) and time.monotonic() < deadline:
        time.sleep(0.5)
    return [
        Wrong("legality", f"{account.name}: {what} was cancelled, but still stands")
        for what in found
    ]


def _still_standing(repository: Repository, account: Account) -> list[str]:
    found = []
    for identifier in account.subscriber.ids:
        *former, last = repository.subscriptions.history(account.number, identifier)
        if identifier not in account.subscriber.standing:
            former.append(last)
        found += [
            f"{identifier} version {fact.version}"
            for fact in former
            if fact.activated_snapshot is not None and fact.removed_snapshot is None
        ]
    return found


def _judge_mail(account: Account, must: Counter[Heard], gone: frozenset[str]) -> list[Wrong]:
    """Judge a mailbox that nobody has read: what was withdrawn has left no trace."""
    heard: Counter[Heard] = Counter()
    wrong, after = [], 0
    client, insist = account.subscriber.client, account.subscriber.insist
    while page := insist(partial(client.notifications, after=after, limit=_PAGE)):
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


def _judge_told(
    account: Account,
    told: Counter[Heard],
    taken_back: Counter[Heard],
    must: Counter[Heard],
    gone: frozenset[str],
) -> list[Wrong]:
    """Judge what was told at once: of what was withdrawn, each match has its withdrawal."""
    standing = Counter({match: n for match, n in told.items() if match[0] not in gone})
    wrong = compare(account.name, standing, must)
    wrong += [
        Wrong("liveness", f"{account.name}: {match} was heard, its withdrawal was not")
        for match in told
        if match[0] in gone and match not in taken_back
    ]
    wrong += [
        Wrong("legality", f"{account.name}: a withdrawal of {match}, which stands")
        for match in taken_back
        if match[0] not in gone
    ]
    return wrong + [
        Wrong("uniqueness", f"{account.name}: the withdrawal of {match} was heard {n} times")
        for match, n in taken_back.items()
        if n > 1
    ]
