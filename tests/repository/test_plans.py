"""Nothing that is asked for often may read a whole table that grows."""

from __future__ import annotations

import re
from typing import Any

from sqlalchemy import event as events

from geocast.model import Account
from geocast.repository import Repository
from geocast.repository.postgresql import PostgresDatabase
from geocast.repository.sqlite import SqliteDatabase
from tests.repository.world import asking, deliver, record, subscribe

GROWING = (
    *("mailbox", "bundle", "event", "body", "withdrawal"),
    *("subscription", "version", "wanted", "change"),
)


def test_a_day_without_scans(repository: Repository, ann: Account, press: Account) -> None:
    database = repository._database
    assert isinstance(database, (SqliteDatabase, PostgresDatabase))
    statements: list[tuple[str, Any]] = []

    def note(_: Any, __: Any, text: str, parameters: Any, ___: Any, many: bool) -> None:
        statements.append((text, parameters[0] if many else parameters))

    for engine in (database._reading, database._writing):
        events.listen(engine, "before_cursor_execute", note)
    _live(repository, ann, press)
    asked = [one for one in statements if one[0].startswith(("SELECT", "UPDATE", "DELETE"))]
    explain = _of_file if isinstance(database, SqliteDatabase) else _of_server
    with database.write() as connection:
        cursor = connection.connection.cursor()
        explained = [(text, step) for text, given in asked for step in explain(cursor, text, given)]
    assert len(explained) > 30
    scans = [(t, s) for t, s in explained if s.startswith(("SCAN", "Seq Scan on"))]
    assert [(t, s) for t, s in scans if s.split()[-1] in GROWING or s.split()[1] in GROWING] == []
    # To join by a hash or a merge is to read whole tables, too.
    assert [(t, s) for t, s in explained if re.match(r"(Hash|Merge) .*Join", s)] == []


def _of_file(cursor: Any, text: str, given: Any) -> list[str]:
    rows = cursor.execute(f"EXPLAIN QUERY PLAN {text}", given).fetchall()
    return [str(row[3]) for row in rows]


def _of_server(cursor: Any, text: str, given: Any) -> list[str]:
    """The steps; a table is read as a whole only if there is no other way."""
    rows = cursor.execute(f"EXPLAIN (COSTS OFF) {text}", given).fetchall()
    return [str(row[0]).strip(" ->") for row in rows]


def _live(repository: Repository, ann: Account, press: Account) -> None:
    hook = repository.endpoints.put(ann.number, "https://example.org/", "s").number
    versions = subscribe(repository, ann, "one", "two")
    repository.subscriptions.add(ann.number, "three", asking(endpoint=hook))
    repository.subscriptions.replace(ann.number, "one", asking())
    repository.subscriptions.cancel(ann.number, "two")
    repository.subscriptions.pause(ann.number, "three")
    repository.subscriptions.resume(ann.number, "three")
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
    mailbox.read(ann.number, limit=9, subscription="one", newest=True)
    mailbox.read(ann.number, limit=9, endpoint=hook)
    mailbox.mark_delivered(ann.number, rows)
    topic = repository.endpoints.put(ann.number, "kafka:t", "s").number
    told = repository.subscriptions.add(ann.number, "told", asking(endpoint=topic))
    deliver(repository, *(record(offset, [told.vnumber]) for offset in range(3, 6)))
    mailbox.withdraw(press, "p5")
    found = mailbox.hand_over(topic, limit=9)
    mailbox.take_out(topic, found[0].cursor, found[-1].cursor)
    mailbox.accounts_after(1)
    mailbox.withdraw(press, "p1")
    mailbox.acknowledge(ann.number, cursors=[1])
    mailbox.acknowledge(ann.number, through=mailbox.latest())
    mailbox.depth(ann.number)
    mailbox.waiting(ann.number)
    mailbox.withdrawn(["press/p1", "press/p2"])
    repository.endpoints.active_with_mail()
