from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import create_engine
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateIndex, CreateTable

from geocast.errors import StateError
from geocast.repository import Repository
from geocast.repository.tables import metadata


def _definitions(file: Path) -> dict[str, str]:
    connection = sqlite3.connect(file)
    rows = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
    found = {name: " ".join(sql.split()) for name, sql in rows}
    connection.close()
    return {name: sql for name, sql in found.items() if name != "alembic_version"}


def test_migrations_and_tables_agree(repository: Repository) -> None:
    with repository._database.read() as connection:
        context = MigrationContext.configure(connection)
        assert compare_metadata(context, metadata) == []


def test_migrations_make_the_tables_to_the_letter(tmp_path: Path) -> None:
    """Also conditions of indexes, which Alembic does not compare."""
    Repository.open(f"sqlite:///{tmp_path / 'migrated.sqlite'}").close()
    engine = create_engine(f"sqlite:///{tmp_path / 'made.sqlite'}")
    metadata.create_all(engine)
    engine.dispose()
    assert _definitions(tmp_path / "migrated.sqlite") == _definitions(tmp_path / "made.sqlite")


def test_a_migration_that_fails_leaves_nothing_behind(tmp_path: Path, url: str) -> None:
    """Made anew after a crash half-way: all of it is one transaction."""
    connection = sqlite3.connect(tmp_path / "repository.sqlite")
    connection.execute("CREATE TABLE withdrawal (other)")
    with pytest.raises(StateError, match="withdrawal already exists"):
        Repository.open(url)
    names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master")]
    assert names == ["withdrawal"]
    connection.execute("DROP TABLE withdrawal")
    connection.commit()
    connection.close()
    Repository.open(url).close()


def test_postgresql_could_have_these_tables() -> None:
    dialect = postgresql.dialect()  # type: ignore[no-untyped-call]
    for table in metadata.sorted_tables:
        assert "BIGINT" in str(CreateTable(table).compile(dialect=dialect)) or table.name == "fact"
        for index in table.indexes:
            made = str(CreateIndex(index).compile(dialect=dialect))
            partial = index.dialect_options["postgresql"]["where"] is not None
            assert ("WHERE" in made) == partial
