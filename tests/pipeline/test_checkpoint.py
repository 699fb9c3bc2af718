"""What Spark has written down, read back from files as Spark writes them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from geocast.errors import StateError
from geocast.pipeline.checkpoint import committed, planned


def note(checkpoint: Path, batch: int, *offsets: int, done: bool = True) -> None:
    """Write what Spark writes about a batch."""
    places = {str(partition): offset for partition, offset in enumerate(offsets)}
    text = "v1\n{}\n" + json.dumps({"log": "abc", "offsets": places})
    for folder, content in (("offsets", text), ("commits", "v1\n{}")):
        if folder == "offsets" or done:
            (checkpoint / folder).mkdir(parents=True, exist_ok=True)
            (checkpoint / folder / str(batch)).write_text(content)


def test_a_batch_begins_where_the_one_before_ended(tmp_path: Path) -> None:
    note(tmp_path, 0, 7, 5)
    note(tmp_path, 1, 7, 9)
    note(tmp_path, 2, 20, 9, done=False)
    assert planned(tmp_path, 0, (2, 5), "abc") == [(0, 2, 7)]
    assert planned(tmp_path, 1, (2, 5), "abc") == [(1, 5, 9)]
    assert planned(tmp_path, 2, (), "abc") == [(0, 7, 20)]
    assert committed(tmp_path, 2) == [7, 9]
    assert committed(tmp_path, 2, but=1) == [7, 5]


def test_more_than_ten_partitions_are_in_their_order(tmp_path: Path) -> None:
    note(tmp_path, 0, *range(12))
    note(tmp_path, 1, *range(1, 13))
    assert planned(tmp_path, 1, (), "abc") == [(number, number, number + 1) for number in range(12)]


def test_notes_that_are_missing_or_torn_stop_the_batch(tmp_path: Path) -> None:
    with pytest.raises(StateError, match="what batch 0 has is not told"):
        planned(tmp_path, 0, (0, 0), "abc")
    note(tmp_path, 3, 7, 5)
    with pytest.raises(StateError, match="what batch 3 has is not told"):
        planned(tmp_path, 3, (0, 0), "abc")
    note(tmp_path, 4, 7, 5, 9)
    with pytest.raises(StateError, match="what batch 4 has is not told"):
        planned(tmp_path, 4, (), "abc")
    for torn in ("", "v1\n{}", "v1\n{}\n{"):
        (tmp_path / "offsets" / "4").write_text(torn)
        with pytest.raises(StateError, match="what batch 4 has is not told"):
            planned(tmp_path, 4, (), "abc")


def test_notes_of_another_log_stop_the_batch(tmp_path: Path) -> None:
    note(tmp_path, 0, 7, 5)
    with pytest.raises(StateError, match="it is of the log abc, not def"):
        planned(tmp_path, 0, (0, 0), "def")
