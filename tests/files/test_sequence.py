from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from geocast.errors import InputError
from geocast.files import input_size, read, sequence
from tests.files.samples import feature, only, rejects_of, write_json

_A, _B = json.dumps(feature("a")).encode(), json.dumps(feature("b")).encode()
_PRETTY = json.dumps(feature("b"), indent=2).encode()


def _write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("data", "rows"),
    [
        (_A + b"\n" + _B + b"\n", [0, 1]),
        (_A + b"\n" + _B, [0, 1]),
        (_A + b"\r\n" + _B + b"\r\n", [0, 1]),
        (b"\xef\xbb\xbf" + _A + b"\n" + _B, [0, 1]),
        (b"\n\n" + _A + b"\n  \n" + _B + b"\n\n", [2, 4]),
        (b"\x1e" + _A + b"\n\x1e" + _B + b"\n", [0, 1]),
        (b"\x1e" + _A + b"\n\x1e" + _PRETTY + b"\n", [0, 1]),
        (b"\x1e\x1e" + _A + b"\x1e" + _B, [0, 1]),
        (b"\n\x1e" + _A + b"\n\n\x1e" + _B, [0, 1]),
        (_A + b"\n\x1e" + _B + b"\n", [0, 1]),
    ],
)
def test_any_layout_is_read(data: bytes, rows: list[int], tmp_path: Path) -> None:
    chunk = only(_write(tmp_path / "f.geojsons", data))
    assert chunk.batch.column("id").to_pylist() == ["a", "b"]
    assert chunk.rows.tolist() == rows


@pytest.mark.parametrize("data", [b"", b"\n \r\n", b"\x1e", b"\xef\xbb\xbf"])
def test_a_file_without_records_gives_no_chunks(data: bytes, tmp_path: Path) -> None:
    assert list(read(_write(tmp_path / "f.ndjson", data), "publications")) == []


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (_B[:-7], "not JSON: "),
        (b"hello", "not JSON: "),
        (_B + _B, "not JSON: "),
        (b'{"id": NaN}', "not JSON: "),
        (b"\x00", "not JSON: "),
    ],
)
def test_a_line_that_is_not_json_is_rejected_alone(line: bytes, said: str, tmp_path: Path) -> None:
    path = _write(tmp_path / "f.ndjson", _A + b"\n" + line + b"\n" + _A + b"\n")
    chunk = only(path)
    assert chunk.rows.tolist() == [0, 2]
    (reject,) = chunk.rejects
    assert (reject.row, reject.id) == (1, None)
    assert reject.reason.startswith(said)
    assert "(at character " in reject.reason


def test_a_last_line_that_breaks_off_is_rejected(tmp_path: Path) -> None:
    path = _write(tmp_path / "f.geojsonl", _A + b"\n" + _B[:20])
    (reject,) = rejects_of(path)
    assert reject.row == 1


def test_utf16_is_refused(tmp_path: Path) -> None:
    path = _write(tmp_path / "f.ndjson", _A.decode().encode("utf-16"))
    with pytest.raises(InputError, match="is UTF-16 text"):
        list(read(path, "publications"))


def test_a_line_that_never_ends_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sequence, "MAX_RECORD_BYTES", 1 << 20)
    path = _write(tmp_path / "f.ndjson", _A + b"\n" + b"x" * (3 << 20))
    with pytest.raises(InputError, match="record 1 is longer than 1 MB"):
        list(read(path, "publications"))


def test_chunks_say_how_far_the_file_is_read(tmp_path: Path) -> None:
    path = write_json(tmp_path / "f.ndjson", [feature(str(i)) for i in range(10)])
    chunks = list(read(path, "publications", batch_rows=5))
    assert [chunk.position for chunk in chunks] == [input_size(path) // 2, input_size(path)]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(max_size=6), max_size=20), st.integers(1, 50), st.booleans())
def test_records_are_told_apart_wherever_reads_end(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    names: list[str],
    read_size: int,
    separators: bool,
) -> None:
    monkeypatch.setattr(sequence, "_READ", read_size)
    start = b"\x1e" if separators else b""
    data = b"".join(start + json.dumps(feature(name)).encode() + b"\n" for name in names)
    path = _write(tmp_path / "f.geojsons", data)
    texts = list(sequence.sequence_texts(path))
    assert [json.loads(located.text)["id"] for located in texts] == names
    assert [located.row for located in texts] == list(range(len(names)))
