from __future__ import annotations

import multiprocessing
from multiprocessing.synchronize import Barrier
from pathlib import Path
from queue import SimpleQueue

import pytest
from sqlalchemy import create_engine

from geocast.errors import InputError, StateError
from geocast.model import Right
from geocast.repository import Repository
from geocast.repository.address import parsed

PROCESSES = 3


def _open(url: str, barrier: Barrier, answers: SimpleQueue[str]) -> None:
    barrier.wait()
    repository = Repository.open(url)
    repository.accounts.add(f"from-{multiprocessing.current_process().name.lower()}", [])
    answers.put(repository.deployment)
    repository.close()


@pytest.mark.parametrize("blank", ["sqlite", "postgresql"], indirect=True)
def test_processes_that_open_a_new_repository_at_once(blank: str) -> None:
    context = multiprocessing.get_context("spawn")
    barrier, answers = context.Barrier(PROCESSES), context.SimpleQueue()
    processes = [
        context.Process(target=_open, args=(blank, barrier, answers), name=f"p{number}")
        for number in range(PROCESSES)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * PROCESSES
    assert len({answers.get() for _ in processes}) == 1
    repository = Repository.open(blank)
    assert len(repository.accounts.page()) == PROCESSES
    repository.close()


def test_the_deployment_stays(url: str) -> None:
    first = Repository.open(url)
    first.close()
    second = Repository.open(url)
    assert second.deployment == first.deployment
    assert len(bytes.fromhex(first.deployment)) == 16
    second.close()


def test_what_is_written_is_there_after_a_restart(url: str) -> None:
    first = Repository.open(url)
    ann = first.accounts.add("ann", [Right.SUBSCRIBE])
    first.close()
    second = Repository.open(url)
    assert second.accounts.get("ann") == ann
    second.close()


def test_folders_are_made(tmp_path: Path) -> None:
    file = tmp_path / "a" / "b c" / "repository.sqlite"
    Repository.open(f"sqlite:///{file}").close()
    assert file.exists()


def test_it_is_durable_and_waits(embedded: Repository) -> None:
    expected = {
        "journal_mode": "wal",
        "synchronous": 2,
        "foreign_keys": 1,
        "busy_timeout": 30_000,
    }
    for transaction in (embedded._database.read, embedded._database.write):
        with transaction() as connection:
            assert expected == {
                name: connection.exec_driver_sql(f"PRAGMA {name}").scalar_one() for name in expected
            }


@pytest.mark.parametrize(
    "other",
    ["no:sense", "sqlite://", "sqlite:///:memory:", "mysql://u:p0@h/d", "postgresql://u:p0@h/"],
)
def test_other_urls_are_refused(other: str) -> None:
    with pytest.raises(InputError, match="sqlite:///FILE or postgresql://") as refused:
        Repository.open(other)
    assert "p0" not in str(refused.value)


def test_a_file_in_the_place_of_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(InputError, match="folder of the repository"):
        Repository.open(f"sqlite:///{tmp_path}/file/repository.sqlite")


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "repository.sqlite"
    file.write_bytes(b"this is not a database " * 100)
    with pytest.raises(StateError, match="cannot be opened: file is not a database"):
        Repository.open(f"sqlite:///{file}")


@pytest.mark.parametrize("blank", ["sqlite", "postgresql"], indirect=True)
def test_a_repository_of_a_later_version_is_refused(blank: str) -> None:
    Repository.open(blank).close()
    engine = create_engine(parsed(blank))
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    engine.dispose()
    with pytest.raises(StateError, match=r"another version of Geocast.*9999"):
        Repository.open(blank)
