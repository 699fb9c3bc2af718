"""The table of keys, beside a topic that is a list here and may be cut at its beginning."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from geocast.log.base import RECORDS
from geocast.log.kafka import keys as module
from geocast.log.kafka.keys import KeyTable


class Shelf:
    """A topic of one partition: keys, of which those before `start` are gone."""

    def __init__(self, *keys: str) -> None:
        self.keys = list(keys)
        self.start = 0
        self.asked = 0

    def read(self, partition: int, start: int, stop: int) -> pa.RecordBatch:
        offsets = range(max(start, self.start), min(stop, len(self.keys)))
        count = len(offsets)
        columns = [[partition] * count, offsets, offsets, [self.keys[at] for at in offsets]]
        arrays = [pa.array(list(column)) for column in (*columns, [b""] * count)]
        return pa.RecordBatch.from_pydict(dict(zip(RECORDS.names, arrays, strict=True)))

    def starts(self) -> list[int]:
        self.asked += 1
        return [self.start]

    def table(self, file: Path) -> KeyTable:
        return KeyTable(file, self.read, self.starts)


def repeats(table: KeyTable, shelf: Shelf, start: int) -> list[bool]:
    return table.repeats(shelf.read(0, start, len(shelf.keys)))


def test_a_record_whose_earlier_one_was_cut_off_is_the_first(tmp_path: Path) -> None:
    """Tables that know the earlier one, have never seen it or have seen both decide alike."""
    shelf = Shelf("a", "b")
    old = shelf.table(tmp_path / "old")
    assert repeats(old, shelf, 0) == [False, False]
    shelf.keys += ["a", "b", "a"]
    ahead = shelf.table(tmp_path / "ahead")
    ahead.reach([5])
    assert repeats(ahead, shelf, 2) == [True, True, True]
    shelf.start = 1
    for table in (old, ahead, shelf.table(tmp_path / "new")):
        assert repeats(table, shelf, 2) == [False, True, True]
        assert repeats(table, shelf, 2) == [False, True, True]


def test_a_key_is_known_where_it_stands_now(tmp_path: Path) -> None:
    shelf = Shelf("a", "b", "a")
    table = shelf.table(tmp_path / "keys")
    table.reach([3])
    assert {key: at.offset for key, at in table.known(["a", "b", "c"]).items()} == {"a": 0, "b": 1}
    shelf.start = 2
    assert {key: at.offset for key, at in table.known(["a", "b", "c"]).items()} == {"a": 2}


def test_the_topic_is_asked_where_it_begins_only_for_what_repeats(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf = Shelf("a", "b")
    table = shelf.table(tmp_path / "keys")
    repeats(table, shelf, 0)
    asked = shelf.asked
    shelf.keys += ["c", "d"]
    assert repeats(table, shelf, 2) == [False, False]
    assert shelf.asked == asked
    shelf.keys.append("a")
    assert repeats(table, shelf, 4) == [True]
    assert shelf.asked == asked + 1


def test_what_was_cut_off_is_let_go_little_by_little(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_LOOK_SECONDS", 0.0)
    shelf = Shelf(*(f"k{n}" for n in range(10)))
    table = shelf.table(tmp_path / "keys")
    table.reach([10])
    left = []
    for n in range(4):
        shelf.start = 9
        shelf.keys.append(f"more{n}")
        assert repeats(table, shelf, 10 + n) == [False]
        with table._transaction("BEGIN") as connection:
            left.append(connection.execute("SELECT min(offset) FROM place").fetchone()[0])
    assert left == [2, 4, 6, 8]
