from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import create_engine, inspect

from geocast.errors import StateError
from geocast.model import Right
from geocast.repository import Repository
from geocast.repository.address import parsed
from geocast.repository.tables import metadata
from tests.postgres import Server
from tests.repository.world import asking, deliver, record


def _definitions(file: Path) -> dict[str, str]:
    connection = sqlite3.connect(file)
    rows = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
    found = {name: " ".join(sql.split()) for name, sql in rows}
    connection.close()
    return {name: sql for name, sql in found.items() if name != "alembic_version"}


@pytest.mark.parametrize("blank", ["sqlite", "postgresql"], indirect=True)
def test_an_empty_database_becomes_a_repository(blank: str) -> None:
    repository = Repository.open(blank)
    assert repository.accounts.add("ann", []).number == 1
    assert repository.mailbox.latest() == 0
    repository.close()
    again = Repository.open(blank)
    assert again.deployment == repository.deployment
    assert [one.name for one in again.accounts.page()] == ["ann"]
    again.close()


def test_migrations_and_tables_agree(repository: Repository) -> None:
    with repository._database.read() as connection:
        options = {"compare_type": True, "compare_server_default": False}
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, metadata) == []


def test_migrations_make_the_tables_to_the_letter(tmp_path: Path) -> None:
    """Also conditions of indexes, which Alembic does not compare."""
    Repository.open(f"sqlite:///{tmp_path / 'migrated.sqlite'}").close()
    engine = create_engine(f"sqlite:///{tmp_path / 'made.sqlite'}")
    metadata.create_all(engine)
    engine.dispose()
    assert _definitions(tmp_path / "migrated.sqlite") == _definitions(tmp_path / "made.sqlite")


def test_migrations_make_the_tables_to_the_letter_on_a_server(postgres: Server) -> None:
    with postgres.database() as migrated, postgres.database("template1") as made:
        engine = create_engine(parsed(made))
        metadata.create_all(engine)
        engine.dispose()
        assert _on_server(migrated) == _on_server(made)
        assert len(_on_server(made)) > 100


def _on_server(url: str) -> set[tuple[Any, ...]]:
    """Columns with their types, order of text and defaults; indexes and constraints as defined."""
    columns = """
        SELECT table_name, column_name, data_type, collation_name, is_nullable, column_default
        FROM information_schema.columns WHERE table_schema = 'public'"""
    indexes = "SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'"
    constraints = """
        SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid)
        FROM pg_constraint WHERE connamespace = 'public'::regnamespace"""
    with psycopg.connect(url) as connection:
        found = [
            row for text in (columns, indexes, constraints) for row in connection.execute(text)
        ]
    return {row for row in found if row[0] != "alembic_version"}


@pytest.mark.parametrize("blank", ["sqlite", "postgresql"], indirect=True)
def test_a_migration_that_fails_leaves_nothing_behind(blank: str) -> None:
    """Made anew after a crash half-way: all of it is one transaction."""
    engine = create_engine(parsed(blank))
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE withdrawal (other INTEGER)")
    with pytest.raises(StateError, match=r"withdrawal\"? already exists"):
        Repository.open(blank)
    assert inspect(engine).get_table_names() == ["withdrawal"]
    with engine.begin() as connection:
        connection.exec_driver_sql("DROP TABLE withdrawal")
    engine.dispose()
    Repository.open(blank).close()


@pytest.mark.parametrize("blank", ["sqlite", "postgresql"], indirect=True)
def test_what_waited_for_a_topic_row_by_row_is_handed_over_by_the_event(blank: str) -> None:
    with closing(Repository.open(blank)) as repository:
        ann = repository.accounts.add("ann", [Right.SUBSCRIBE])
        topic = repository.endpoints.put(ann.number, "kafka:geocast.to.ann", "").number
        hook = repository.endpoints.put(ann.number, "https://example.org/hook", "").number
        add = repository.subscriptions.add
        wanted = {"a": topic, "b": topic, "c": hook}
        numbers = [
            add(ann.number, name, asking(name, endpoint=to)).vnumber for name, to in wanted.items()
        ]
        deliver(repository, record(0, numbers), record(1, numbers[1:]), record(2, numbers[2:]))
        expected = repository.mailbox.hand_over(topic, limit=10, max_bytes=1 << 20)
        assert [len(one.matches) for one in expected] == [2, 1]
        alone = repository.mailbox.read(ann.number, limit=10)
        assert len(alone) == 3
    engine = create_engine(parsed(blank))
    with engine.begin() as connection:
        # As version 0.1 had it: a row for each match, those of topics among them.
        for name in "a", "b":
            connection.exec_driver_sql(
                f"""
                INSERT INTO mailbox
                    (cursor, account, subscription, vnumber, event, endpoint, kind, notified)
                SELECT
                    bundle.cursor + {"ab".index(name)} - CASE WHEN matches = 1 THEN 1 ELSE 0 END,
                    bundle.account, subscription.number, version.vnumber, event, bundle.endpoint,
                    kind, notified
                FROM bundle, subscription, version
                WHERE subscription.id = '{name}' AND version.subscription = subscription.number
                    AND matches > {1 - "ab".index(name)}"""
            )
        connection.exec_driver_sql("DROP TABLE bundle")
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0004'")
    engine.dispose()
    with closing(Repository.open(blank)) as repository:
        assert repository.mailbox.depth() == 6
        moved = repository.mailbox.hand_over(topic, limit=10, max_bytes=1 << 20)
        # What had been written as far as the row before the last is not taken for written.
        assert [one.cursor for one in moved] == [expected[0].cursor + 1, expected[1].cursor]
        assert [replace(one, cursor=0) for one in moved] == [
            replace(one, cursor=0) for one in expected
        ]
        assert repository.mailbox.read(ann.number, limit=10) == alone
