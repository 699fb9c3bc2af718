"""Match records: one JSON object each, the publication in it as it was published."""

from __future__ import annotations

import json

import pytest

from geocast.model import MatchRecord

FEATURES = [
    b'{"type": "Feature",  "id": 1.10}',
    b'{"a":{"feature":1},"feature":2,"b":[]}',
    b'{\n  "pretty": true\n}\n',
    b"{}",
]


def record(feature: bytes, name: str = 'x,"feature":{') -> MatchRecord:
    return MatchRecord(1, 2, 3, "bob", name, 4, 5, [6, 7], feature)


@pytest.mark.parametrize("feature", FEATURES)
def test_a_record_is_json_and_keeps_the_bytes(feature: bytes) -> None:
    written = record(feature).encode()
    assert json.loads(written)["feature"] == json.loads(feature)
    assert MatchRecord.decode(written) == record(feature)


@pytest.mark.parametrize("feature", FEATURES)
def test_records_of_two_lines_are_still_read(feature: bytes) -> None:
    head = json.loads(record(b"{}").encode())
    del head["feature"]
    written = json.dumps(head).encode() + b"\n" + feature
    assert MatchRecord.decode(written) == record(feature)


@pytest.mark.parametrize("value", [b"", b"{}", b"nonsense\nmore", b'{"partition":1,"feature":{}}'])
def test_anything_else_is_refused(value: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        MatchRecord.decode(value)
