"""Nothing that is asked for often may read a whole table that grows."""

from __future__ import annotations

from typing import Any

from sqlalchemy import event as events

from geocast.model import Account
from geocast.repository import Repository
from tests.repository.world import asking, deliver, record, subscribe

GROWING = ("mailbox", "event", "body", "subscription", "version", "wanted", "change", "withdrawal")


def test_a_day_without_scans(repository: Repository, ann: Account, press: Account) -> None:
    statements: list[tuple[str, Any]] = []

    def note(_: Any, __: Any, text: str, parameters: Any, ___: Any, many: bool) -> None:
        statements.append((text, parameters[0] if many else parameters))

    for engine in (repository._database._reading, repository._database._writing):
        events.listen(engine, "before_cursor_execute", note)
    _live(repository, ann, press)
    with repository._database.read() as connection:
        cursor = connection.connection.cursor()
        explained = [
            (text, row[3])
            for text, parameters in statements
            if text.startswith(("SELECT", "UPDATE", "DELETE"))
            for row in cursor.execute(f"EXPLAIN QUERY PLAN {text}", parameters).fetchall()
        ]
    assert len(explained) > 30
    scans = [(text, step) for text, step in explained if step.startswith("SCAN")]
    assert [(t, s) for t, s in scans if s.split()[1] in GROWING] == []


def _live(repository: Repository, ann: Account, press: Account) -> None:
    hook = repository.endpoints.put(ann.number, "https://example.org/", "s").number
    versions = subscribe(repository, ann, "one", "two")
    repository.subscriptions.add(ann.number, "three", asking(endpoint=hook))
    repository.subscriptions.replace(ann.number, "one", asking())
    repository.subscriptions.cancel(ann.number, "two")
    through = repository.subscriptions.changes(0, 10).through
    list(repository.subscriptions.standing(through, versions))
    repository.subscriptions.activate(1, 0, through, 5)
    repository.subscriptions.page(ann.number)
    repository.subscriptions.history(ann.number, "one")
    repository.subscriptions.owners(1)
    deliver(repository, *(record(offset, versions) for offset in range(3)))
    mailbox = repository.mailbox
    rows = mailbox.read(ann.number, limit=9)
    mailbox.read(ann.number, limit=9, subscription="one")
    mailbox.read(ann.number, limit=9, endpoint=hook)
    mailbox.mark_delivered(ann.number, rows)
    mailbox.accounts_after(1)
    mailbox.withdraw(press, "p1")
    mailbox.acknowledge(ann.number, cursors=[1])
    mailbox.acknowledge(ann.number, through=mailbox.latest())
    mailbox.depth(ann.number)
    repository.endpoints.active_with_mail()
