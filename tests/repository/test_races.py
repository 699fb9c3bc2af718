"""Several at once: threads that share a repository, and repositories that share a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from functools import partial
from threading import Barrier
from typing import TypeVar

from geocast.errors import ConflictError, InputError, StateError
from geocast.model import Account, Kind
from geocast.repository import DeadLetter, Repository, Subscription
from tests.repository.world import asking, deliver, record, subscribe

_T = TypeVar("_T")

THREADS = 4
EVENTS = 120


@contextmanager
def opened(url: str, count: int) -> Iterator[list[Repository]]:
    """Repositories of one file: they share no lock but the file's."""
    with ExitStack() as stack:
        yield [stack.enter_context(closing(Repository.open(url))) for _ in range(count)]


def together(*jobs: Callable[[], _T]) -> list[_T]:
    barrier = Barrier(len(jobs))

    def run(job: Callable[[], _T]) -> _T:
        barrier.wait()
        return job()

    with ThreadPoolExecutor(len(jobs)) as pool:
        return list(pool.map(run, jobs))


def test_the_same_id_at_once(url: str, ann: Account) -> None:
    with opened(url, 2) as repositories:

        def add(repository: Repository) -> Subscription | None:
            try:
                return repository.subscriptions.add(ann.number, "one", asking())
            except ConflictError:
                return None

        for _ in range(10):
            added = together(*(partial(add, it) for it in repositories * 2))
            assert [one is not None for one in added].count(True) == 1
            repositories[0].subscriptions.cancel(ann.number, "one")
        facts = repositories[0].subscriptions.history(ann.number, "one")
    assert [fact.version for fact in facts] == list(range(1, 11))


def test_the_same_batch_at_once(url: str) -> None:
    with opened(url, THREADS) as repositories:
        for batch in range(10):
            pins = together(
                *(partial(it.ledger.pin, "q", batch, to) for to, it in enumerate(repositories))
            )
            (entry,) = repositories[0].ledger.entries("q", batch - 1)
            assert set(pins) == {entry.snapshot}


def test_the_same_range_is_delivered_by_one(url: str, ann: Account) -> None:
    with opened(url, THREADS) as repositories:
        (one,) = subscribe(repositories[0], ann, "one")

        def send(repository: Repository, offset: int) -> int:
            try:
                return repository.mailbox.deliver(
                    "deliver", 0, offset, offset + 1, [record(offset, [one])]
                )
            except StateError:
                return 0

        for offset in range(10):
            sent = together(*(partial(send, it, offset) for it in repositories))
            assert sorted(sent) == [0, 0, 0, 1]
        assert repositories[0].mailbox.depth() == 10


def test_everybody_writes_and_nothing_is_lost(url: str, ann: Account, bob: Account) -> None:
    with opened(url, 2) as (first, second):

        def add(repository: Repository, account: Account) -> list[Subscription]:
            return [repository.subscriptions.add(account.number, None, asking()) for _ in range(40)]

        jobs = [partial(add, it, account) for it in (first, second) for account in (ann, bob)]
        added = [one for some in together(*jobs) for one in some]
        assert len({one.number for one in added}) == len({one.vnumber for one in added}) == 160
        changes = first.subscriptions.changes(0, 1_000)
        assert changes.count == changes.through == 160
        assert first.subscriptions.count(ann.number) == 80


def test_followers_of_changes_miss_nothing(url: str, ann: Account) -> None:
    with opened(url, 3) as (first, second, third):
        seen: list[int] = []

        def write(repository: Repository) -> None:
            for _ in range(40):
                repository.subscriptions.add(ann.number, None, asking())

        def follow() -> None:
            place = 0
            while len(seen) < 80:
                changes = third.subscriptions.changes(place, 7)
                seen.extend(int(text) for text in changes.table["id"].to_pylist())
                place = changes.through

        together(partial(write, first), partial(write, second), follow)
        assert seen == third.subscriptions.owners(0).vnumber.tolist()


def test_a_withdrawn_publication_is_never_readable(url: str, ann: Account, press: Account) -> None:
    """Delivery, withdrawal and a reader at once; what the reader was handed gets a notice."""
    with opened(url, 3) as (first, second, third):
        (one,) = subscribe(first, ann, "one")
        sent: Counter[tuple[str, Kind]] = Counter()

        def send() -> None:
            for offset in range(0, EVENTS, 4):
                deliver(first, *(record(offset + more, [one]) for more in range(4)))

        def withdraw() -> None:
            for offset in range(0, EVENTS, 3):
                second.mailbox.withdraw(press, f"p{offset}")
                rows = second.mailbox.read(ann.number, limit=EVENTS * 2)
                assert (f"p{offset}", Kind.MATCH) not in {(r.publication, r.kind) for r in rows}

        def read() -> None:
            after = 0
            for _ in range(60):
                rows = third.mailbox.read(ann.number, after=after, limit=5)
                after = rows[-1].cursor if rows else after
                for row in third.mailbox.mark_delivered(ann.number, rows):
                    sent[row.publication, row.kind] += 1

        together(send, withdraw, read)
        left = first.mailbox.read(ann.number, limit=EVENTS * 2)
        readable = Counter((row.publication, row.kind) for row in left)
        assert set(readable.values()) == {1}
        for offset in range(EVENTS):
            name, withdrawn = f"p{offset}", offset % 3 == 0
            handed = sent[name, Kind.MATCH] == 1
            assert readable[name, Kind.MATCH] == (not withdrawn)
            assert readable[name, Kind.WITHDRAWAL] == (withdrawn and handed)


def test_bodies_go_with_the_last_who_acknowledges(url: str, ann: Account, bob: Account) -> None:
    with opened(url, 2) as (first, second):
        (one,), (two,) = subscribe(first, ann, "one"), subscribe(first, bob, "two")
        for offset in range(0, EVENTS, 4):
            deliver(first, *(record(offset + more, [one, two]) for more in range(4)))
            latest = first.mailbox.latest()
            done = together(
                partial(first.mailbox.acknowledge, ann.number, through=latest),
                partial(second.mailbox.acknowledge, bob.number, through=latest),
            )
            assert done == [4, 4]
        with first._database.read() as connection:
            assert connection.exec_driver_sql("SELECT count(*) FROM body").scalar_one() == 0


def test_one_account_acknowledges_twice_at_once(url: str, ann: Account) -> None:
    with opened(url, 3) as repositories:
        (one,) = subscribe(repositories[0], ann, "one")
        for offset in range(0, 40, 4):
            deliver(repositories[0], *(record(offset + more, [one]) for more in range(4)))
            latest = repositories[0].mailbox.latest()
            removed = together(
                *(
                    partial(it.mailbox.acknowledge, ann.number, through=latest)
                    for it in repositories
                )
            )
            assert sum(removed) == 4


def test_nothing_is_added_for_an_account_that_is_removed(url: str) -> None:
    with opened(url, 2) as (first, second):
        for number in range(12):
            account = first.accounts.add(f"a{number}", [])

            def add(owner: Account = account) -> bool:
                try:
                    second.subscriptions.add(owner.number, "one", asking())
                    second.endpoints.put(owner.number, "https://example.org/", "s")
                    second.accounts.issue_token(owner.number)
                except InputError:
                    return False
                return True

            together(add, partial(first.accounts.remove, account.name))
            assert first.subscriptions.count(account.number) == 0
            assert first.endpoints.page(account.number) == []
            assert first.accounts.tokens(account.number) == []


def test_deliveries_of_several_partitions_share_the_mailboxes(url: str, ann: Account) -> None:
    """Cursors become visible in their own order: who reads upwards misses nothing."""
    with opened(url, THREADS + 1) as (*senders, reader):
        (one,) = subscribe(reader, ann, "one")
        seen: list[str] = []

        def send(partition: int, repository: Repository) -> None:
            for offset in range(EVENTS // THREADS):
                sent = replace(record(offset, [one], name=f"{partition}-{offset}"))
                sent = replace(sent, partition=partition)
                repository.mailbox.deliver("deliver", partition, offset, offset + 1, [sent])

        def read() -> None:
            after = 0
            while len(seen) < EVENTS:
                rows = reader.mailbox.read(ann.number, after=after, limit=7)
                seen.extend(row.publication for row in rows)
                after = rows[-1].cursor if rows else after

        together(*(partial(send, number, it) for number, it in enumerate(senders)), read)
        names = {
            f"{partition}-{n}" for partition in range(THREADS) for n in range(EVENTS // THREADS)
        }
        assert len(seen) == len(set(seen))
        assert set(seen) == names


def test_letters_are_numbered_in_the_order_in_which_they_are_seen(url: str) -> None:
    with opened(url, 3) as (first, second, reader):
        seen: list[int] = []

        def write(repository: Repository, name: str) -> None:
            for _ in range(30):
                repository.dead_letters.add([DeadLetter("gateway", name, None, "bad", b"")] * 2)

        def follow() -> None:
            while len(seen) < 120:
                seen.extend(one.number for one in reader.dead_letters.page(seen[-1] if seen else 0))

        together(partial(write, first, "a"), partial(write, second, "b"), follow)
        assert len(seen) == len(set(seen)) == 120
