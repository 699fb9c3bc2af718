from __future__ import annotations

import errno
import json
import os
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from geocast.errors import InputError
from geocast.files import pairs_of, write_matches, write_rejects
from geocast.files.atomic import open_output
from geocast.model import MATCHES, PAIRS, REJECTS, Reject

_ROWS = [
    {"publication": "p1", "subscriptions": ["s1", "s2"]},
    {"publication": "p2", "subscriptions": []},
    {"publication": "p\u00e9", "subscriptions": ["s1"]},
]
_FLAT = [
    {"publication": "p1", "subscription": "s1"},
    {"publication": "p1", "subscription": "s2"},
    {"publication": "p\u00e9", "subscription": "s1"},
]
_TABLE = pa.Table.from_pylist(_ROWS, MATCHES)
_REJECTS = [Reject("publications", 3, "a", "bad"), Reject("subscriptions", 0, None, "worse")]
_REJECT_ROWS = [
    {"side": "publications", "row": 3, "id": "a", "reason": "bad"},
    {"side": "subscriptions", "row": 0, "id": None, "reason": "worse"},
]


def _lines(data: bytes) -> list[object]:
    return [json.loads(line) for line in data.splitlines()]


@pytest.mark.parametrize(
    ("pairs", "rows", "schema"), [(False, _ROWS, MATCHES), (True, _FLAT, PAIRS)]
)
def test_matches_in_both_formats(
    pairs: bool, rows: list[object], schema: pa.Schema, tmp_path: Path
) -> None:
    for tables in ([_TABLE], [_TABLE.slice(0, 1), _TABLE.slice(1)], [pa.concat_tables([_TABLE])]):
        parquet, lines = tmp_path / "m.parquet", tmp_path / "m.ndjson"
        assert write_matches(parquet, tables, pairs=pairs) == 3
        assert write_matches(str(lines), iter(tables), pairs=pairs) == 3
        assert pq.read_table(parquet).to_pylist() == rows
        assert pq.read_schema(parquet).equals(schema)
        assert _lines(lines.read_bytes()) == rows


@pytest.mark.parametrize("path", [None, "-"])
def test_matches_and_rejects_on_standard_output(
    path: str | None, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    write_matches(path, [_TABLE])
    assert _lines(capfdbinary.readouterr().out) == _ROWS
    write_matches(path, [_TABLE], pairs=True)
    assert _lines(capfdbinary.readouterr().out) == _FLAT
    write_rejects(path, _REJECTS)
    assert _lines(capfdbinary.readouterr().out) == _REJECT_ROWS


def test_rejects_in_both_formats(tmp_path: Path) -> None:
    assert write_rejects(tmp_path / "r.parquet", iter(_REJECTS)) == 2
    assert write_rejects(tmp_path / "r.ndjson", _REJECTS) == 2
    assert pq.read_table(tmp_path / "r.parquet").to_pylist() == _REJECT_ROWS
    assert pq.read_schema(tmp_path / "r.parquet").equals(REJECTS)
    assert _lines((tmp_path / "r.ndjson").read_bytes()) == _REJECT_ROWS


def test_nothing_to_write_gives_a_file_without_rows(tmp_path: Path) -> None:
    assert write_matches(tmp_path / "m.parquet", []) == 0
    assert write_rejects(tmp_path / "r.parquet", []) == 0
    assert write_matches(tmp_path / "m.ndjson", []) == 0
    assert pq.read_table(tmp_path / "m.parquet").schema.equals(MATCHES)
    assert pq.read_table(tmp_path / "r.parquet").num_rows == 0
    assert (tmp_path / "m.ndjson").read_bytes() == b""


def test_pairs_of_a_slice_and_of_chunks() -> None:
    assert pairs_of(_TABLE.slice(1)).to_pylist() == _FLAT[2:]
    assert pairs_of(pa.concat_tables([_TABLE.slice(2), _TABLE.slice(0, 1)])).to_pylist() == [
        _FLAT[2],
        *_FLAT[:2],
    ]
    assert pairs_of(MATCHES.empty_table()).schema.equals(PAIRS)


def _broken() -> Iterator[pa.Table]:
    yield _TABLE
    raise RuntimeError


@pytest.mark.parametrize("name", ["m.parquet", "m.ndjson"])
def test_a_failure_leaves_what_was_there(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    with pytest.raises(RuntimeError):
        write_matches(path, _broken())
    assert list(tmp_path.iterdir()) == []
    path.write_text("before")
    with pytest.raises(RuntimeError):
        write_matches(path, _broken())
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_nothing_is_seen_under_the_name_before_all_is_written(tmp_path: Path) -> None:
    path = tmp_path / "m.ndjson"

    def tables() -> Iterator[pa.Table]:
        yield _TABLE
        assert not path.exists()

    write_matches(path, tables())
    assert path.exists()


def test_a_link_is_followed_and_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "target.ndjson", tmp_path / "link.ndjson"
    target.write_text("before")
    link.symlink_to(target)
    write_matches(link, [_TABLE])
    assert link.is_symlink()
    assert _lines(target.read_bytes()) == _ROWS


def test_the_file_has_the_usual_permissions(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    write_matches(tmp_path / "m.ndjson", [_TABLE])
    usual = stat.S_IMODE((tmp_path / "usual").stat().st_mode)
    assert stat.S_IMODE((tmp_path / "m.ndjson").stat().st_mode) == usual


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.ndjson"
    os.mkfifo(pipe)
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_bytes()))
    reader.start()
    write_matches(pipe, [_TABLE])
    reader.join(10)
    assert _lines(received[0]) == _ROWS
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_outputs_that_cannot_be_opened(tmp_path: Path) -> None:
    (tmp_path / "folder.ndjson").mkdir()
    for path in (tmp_path / "none" / "m.ndjson", tmp_path / "folder.ndjson"):
        with pytest.raises(InputError) as caught:
            write_matches(path, [_TABLE])
        assert str(caught.value).startswith(f"{path}: cannot be written: ")
    with pytest.raises(InputError, match=r"known suffixes: .parquet, .ndjson"):
        write_matches(tmp_path / "m.csv", [_TABLE])


def test_a_full_disk_is_said_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "m.ndjson"

    def fill() -> None:
        with open_output(path):
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(InputError, match="cannot be written: No space left on device"):
        fill()
    assert list(tmp_path.iterdir()) == []
