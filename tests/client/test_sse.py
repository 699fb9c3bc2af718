from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocast.client import sse
from geocast.client.sse import Event, EventParser
from geocast.errors import ServiceError


def parse(data: bytes) -> list[Event]:
    return EventParser().feed(data)


@pytest.mark.parametrize(
    ("text", "events"),
    [
        ("data: a\n\n", [Event("message", "a", "")]),
        ("data:a\ndata: b\n\n", [Event("message", "a\nb", "")]),
        ("data:  a\n\n", [Event("message", " a", "")]),
        ("data\n\n", [Event("message", "", "")]),
        ("event: match\nid: 7\ndata: {}\n\n", [Event("match", "{}", "7")]),
        ("id: 7\ndata: a\n\ndata: b\n\n", [Event("message", "a", "7"), Event("message", "b", "7")]),
        ("id: 7\n\ndata: b\n\n", [Event("message", "b", "7")]),
        ("id: 7\nid\ndata: b\n\n", [Event("message", "b", "")]),
        ("id: 7\nid: 8\0\ndata: b\n\n", [Event("message", "b", "7")]),
        (": heartbeat\n\n", []),
        ("event: match\n\ndata: a\n\n", [Event("message", "a", "")]),
        ("unknown: x\ndata: a: b\n\n", [Event("message", "a: b", "")]),
        ("\ufeffdata: a\n\n", [Event("message", "a", "")]),
        ("data: a\r\rdata: b\r\n\r\n", [Event("message", "a", ""), Event("message", "b", "")]),
        ("data: a\n", []),
        ("data: a", []),
        ("", []),
    ],
)
def test_what_the_standard_says(text: str, events: list[Event]) -> None:
    assert parse(text.encode()) == events


def test_a_half_sent_event_is_never_seen() -> None:
    whole = b"id: 1\ndata: one\n\nid: 2\ndata: two\n\n"
    for end in range(len(whole)):
        assert len(parse(whole[:end])) == (end >= whole.index(b"id: 2"))


def test_the_stream_asks_for_a_delay() -> None:
    parser = EventParser()
    parser.feed(b"retry: 1500\nretry: soon\nretry: -1\n\n")
    assert parser.retry == 1.5


def test_text_that_is_not_utf_8_does_not_end_the_stream() -> None:
    assert parse(b"data: \xff\n\n") == [Event("message", "\ufffd", "")]


def test_an_endless_line_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "MAX_EVENT_BYTES", 100)
    parser = EventParser()
    parser.feed(b"data: " + b"x" * 90)
    with pytest.raises(ServiceError, match="longer than"):
        parser.feed(b"x" * 90)


LINES = st.lists(
    st.one_of(
        st.sampled_from(["", "", "data", "id", ": c", "retry: 5", "event: match", "id: 9\0"]),
        st.builds("data: {}".format, st.text(alphabet="aé€😀:\ufeff ", max_size=5)),
        st.builds("id: {}".format, st.integers(0, 99)),
    ),
    max_size=20,
)


@given(LINES, st.sampled_from(["\n", "\r\n", "\r"]), st.data())
def test_how_the_bytes_are_cut_does_not_matter(
    lines: list[str], end: str, data: st.DataObject
) -> None:
    text = "".join(line + end for line in lines).encode()
    places = st.lists(st.integers(0, len(text)), max_size=10).map(sorted)
    cuts = [0, *data.draw(places), len(text)]
    parser = EventParser()
    pieces = [text[start:stop] for start, stop in pairwise(cuts)]
    found = [event for piece in pieces for event in parser.feed(piece)]
    assert found == parse(text)
    assert found == slow(lines)


def slow(lines: list[str]) -> list[Event]:
    """Read whole lines by the letter of the standard."""
    found, name, data, last = [], "", "", ""
    for index, line in enumerate(lines):
        line = line.removeprefix("\ufeff") if index == 0 else line
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if line == "":
            if data:
                found.append(Event(name or "message", data[:-1], last))
            name, data = "", ""
        elif field == "data":
            data += value + "\n"
        elif field == "event":
            name = value
        elif field == "id" and "\0" not in value:
            last = value
    return found
