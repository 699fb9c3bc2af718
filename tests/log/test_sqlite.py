"""What only the embedded log has: files that can be missing, damaged or foreign."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from geocast.errors import InputError, StateError
from geocast.log import SqliteLog


def test_an_existing_log_is_opened_as_it_is(tmp_path: Path) -> None:
    made = SqliteLog.open(tmp_path, 3, unique_keys=False)
    found = SqliteLog.open_existing(tmp_path)
    assert (found.name, found.partitions) == (made.name, 3)
    assert all(p.new for p in found.append([("a", b""), ("a", b"")]))
    made.close()
    found.close()


@pytest.mark.parametrize("place", ["empty", "missing/there"])
def test_no_log_is_made_where_one_is_expected(tmp_path: Path, place: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(StateError, match="there is no log here"):
        SqliteLog.open_existing(tmp_path / place)
    assert list(tmp_path.rglob("*")) == [tmp_path / "empty"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "does not describe a log"),
        ("[]", "does not describe a log"),
        ('{"format": 1}', "does not describe a log: 'name'"),
        ('{"format": 2}', "its format is 2, this version reads 1"),
    ],
)
def test_a_description_that_cannot_be_used(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "log.json").write_text(text)
    with pytest.raises(StateError, match=rf"log\.json: .*{message}"):
        SqliteLog.open(tmp_path)


def test_a_creation_that_was_cut_short_is_completed(tmp_path: Path) -> None:
    SqliteLog.open(tmp_path).close()
    (tmp_path / "log.json").unlink()
    (tmp_path / "0001.sqlite").unlink()
    log = SqliteLog.open(tmp_path)
    assert log.ends() == [0, 0]
    log.close()


def test_a_missing_file_is_not_made_anew(tmp_path: Path) -> None:
    SqliteLog.open(tmp_path).close()
    (tmp_path / "0001.sqlite").unlink()
    log = SqliteLog.open(tmp_path)
    with pytest.raises(StateError, match=r"0001\.sqlite: unable to open"):
        log.ends()
    log.close()


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    SqliteLog.open(tmp_path).close()
    (tmp_path / "0000.sqlite").write_bytes(b"nonsense" * 1000)
    log = SqliteLog.open(tmp_path)
    with pytest.raises(StateError, match=r"0000\.sqlite: file is not a database"):
        log.read(0, 0)
    log.close()


def test_a_place_that_cannot_be_a_directory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="a log cannot be made here: Not a directory"):
        SqliteLog.open(tmp_path / "file" / "log")


def test_any_directory_name_will_do(tmp_path: Path) -> None:
    log = SqliteLog.open(tmp_path / "a b?c=%20#d")
    log.append([("a", b"")])
    assert sum(log.ends()) == 1
    log.close()


def test_bytes_bound_a_range(tmp_path: Path) -> None:
    log = SqliteLog.open(tmp_path, 1)
    log.append([(str(i), b"x" * 9) for i in range(10)])
    assert log.within(0, 2, 8, 35) == 5
    assert log.within(0, 2, 8, 1000) == 8
    assert log.within(0, 2, 800, 1000) == 10
    assert log.within(0, 2, 8, 1) == 3
    assert log.within(0, 2, 2, 1) == 2
    log.expire(max_bytes=50)
    assert log.within(0, 2, 8, 25) == 7
    log.close()


def test_a_failed_call_leaves_the_log_usable(tmp_path: Path) -> None:
    log = SqliteLog.open(tmp_path, 1)
    with pytest.raises(StateError, match=r"0000\.sqlite"):
        log.append([("a", b"fine"), ("b", "text")])  # type: ignore[list-item]
    assert log.ends() == [0]
    assert log.append([("c", b"")])[0].offset == 0
    log.close()


def test_every_commit_waits_for_the_disk(tmp_path: Path) -> None:
    log = SqliteLog.open(tmp_path, 1)
    with log._parts[0].view() as view:
        assert view.connection.execute("PRAGMA synchronous").fetchone() == (2,)
        assert view.connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    log.close()


def test_the_description_is_plain_json(tmp_path: Path) -> None:
    log = SqliteLog.open(tmp_path)
    assert json.loads((tmp_path / "log.json").read_text()) == {
        "format": 1,
        "name": log.name,
        "partitions": 2,
        "unique_keys": True,
    }
    log.close()
