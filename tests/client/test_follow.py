"""The stream against a simulated service that breaks in every way there is; no time passes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocast.client import follow as following
from geocast.client.core import Core
from geocast.client.feed import Feed
from geocast.client.follow import follow, settle
from geocast.client.values import Notification
from geocast.client.wire import Answer, Failure, Give, Open, Read, Request, Steps, Wait
from geocast.errors import ServiceError
from tests.client.events import cloud_event, sse

CORE = Core("http://service", "gct_token", retries=3)
STREAM = {"content-type": "text/event-stream; charset=utf-8"}


class Service:
    """A mailbox behind a bad line: `mishaps` says how each connection goes, then all is well."""

    def __init__(self, count: int, mishaps: list[Any]) -> None:
        self.mailbox = dict.fromkeys(range(1, count + 1))
        self.count = count
        self.mishaps: Iterator[Any] = iter(mishaps)
        self.acknowledged: list[int] = []
        self.given: list[int] = []
        self.pieces: Iterator[bytes | Failure] = iter(())
        self.positions: list[str | None] = []

    def follow(self, feed: Feed, stop: int, **options: Any) -> None:
        """Run a loop until `stop` notifications in all are given, and leave it there."""
        steps = follow(CORE, feed, **options)
        self.drive(steps, stop)
        steps.close()
        self.drive(settle(CORE, feed), stop)

    def drive(self, steps: Steps[None], stop: int) -> None:
        outcome: Any = None
        while True:
            try:
                action = steps.send(outcome)
            except StopIteration:
                return
            outcome = self.do(action)
            if isinstance(action, Give):
                self.given.append(action.value.cursor)
                if len(self.given) == stop:
                    return

    def do(self, action: Any) -> Any:
        match action:
            case Open(request):
                return self.open(request)
            case Read():
                return next(self.pieces, b"")
            case Request(path="/v1/notifications/ack", body=bytes(body)):
                cursors = orjson.loads(body)["cursors"]
                self.acknowledged += cursors
                for cursor in cursors:
                    self.mailbox.pop(cursor, None)
                return Answer(200, {}, b'{"acknowledged":1}')
            case Wait(seconds):
                assert seconds >= 0
        return None

    def open(self, request: Request) -> Answer | Failure:
        position = request.headers.get("last-event-id")
        self.positions.append(position)
        mishap = next(self.mishaps, None)
        if isinstance(mishap, Answer | Failure):
            return mishap
        after = 0 if mishap == "deaf" else int(position or 0)
        text = b": hello\n\n" + b"".join(sse(c) for c in sorted(self.mailbox) if c > after)
        if isinstance(mishap, tuple):
            length, size = mishap
            text = text[: length % (len(text) + 1)]
            self.pieces = iter([*_cut(text, size), Failure("reset", sent=True)])
        else:
            self.pieces = _cut(text, 4096)
        return Answer(200, STREAM, b"")


def _cut(text: bytes, size: int) -> Iterator[bytes]:
    return (text[start : start + size] for start in range(0, len(text), size))


MISHAPS = st.lists(
    st.one_of(
        st.tuples(st.integers(0, 10_000), st.integers(1, 3000)),
        st.just("deaf"),
        st.just(Failure("refused", sent=False)),
        st.sampled_from([Answer(status, {}, b"") for status in (429, 500, 502, 503, 504)]),
    ),
    max_size=12,
)


@given(st.integers(1, 12), MISHAPS, st.booleans())
def test_nothing_is_lost_or_repeated_whatever_breaks(
    count: int, mishaps: list[Any], acknowledge: bool
) -> None:
    service = Service(count, ["deaf", *mishaps])
    service.follow(Feed("s"), count, acknowledge=acknowledge)
    assert service.given == list(range(1, count + 1))
    assert service.acknowledged == (service.given[:-1] if acknowledge else [])


@given(st.integers(2, 12), st.data())
def test_a_second_loop_goes_on_where_the_first_was_left(count: int, data: st.DataObject) -> None:
    service, feed = Service(count, []), Feed()
    left = data.draw(st.integers(1, count - 1))
    service.follow(feed, left)
    assert service.acknowledged == list(range(1, left))
    service.follow(feed, count)
    assert service.given == list(range(1, count + 1))
    assert service.acknowledged == list(range(1, count))


def test_another_reader_gets_what_was_not_acknowledged() -> None:
    service = Service(5, [])
    service.follow(Feed(), 3)
    service.follow(Feed(), 6)
    assert service.given == [1, 2, 3, 3, 4, 5]


def test_the_position_is_sent_and_the_beginning_only_at_first() -> None:
    whole = len(b": hello\n\n" + sse(1) + sse(2))
    service = Service(3, [(whole + 20, 7), Failure("refused", sent=False)])
    service.follow(Feed(), 3)
    assert service.positions == [None, "2", "2"]


def test_acknowledgements_go_in_groups_and_are_kept_while_the_service_is_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(following, "_GROUP_SECONDS", math.inf)
    monkeypatch.setattr(following, "_GROUP", 100)
    service, feed = Service(250, []), Feed()
    sizes: list[int] = []
    away = [True]

    def do(action: Any, do: Any = service.do) -> Any:
        if isinstance(action, Request):
            sizes.append(len(orjson.loads(action.body or b"")["cursors"]))
            if away.pop() if away else False:
                return Failure("reset", sent=True)
        return do(action)

    service.do = do  # type: ignore[method-assign]
    service.follow(feed, 250)
    assert service.acknowledged == list(range(1, 250))
    assert sizes == [1, 100, 100, 49]


def test_a_loop_that_is_left_while_it_acknowledges_has_forgotten_nothing() -> None:
    service, feed = Service(2, []), Feed()
    steps = follow(CORE, feed)
    action = next(steps)
    while not isinstance(action, Request):
        action = steps.send(service.do(action))
    steps.close()
    assert feed.consumed == [1]
    service.drive(settle(CORE, feed), 9)
    assert service.acknowledged == [1]


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_a_refused_acknowledgement_ends_the_loop(status: int) -> None:
    service = Service(2, [])

    def do(action: Any, do: Any = service.do) -> Any:
        return Answer(status, {}, b"{}") if isinstance(action, Request) else do(action)

    service.do = do  # type: ignore[method-assign]
    with pytest.raises(ServiceError, match="/v1/notifications/ack"):
        service.follow(Feed(), 2)


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_a_refusal_ends_the_loop_with_its_reason(status: int) -> None:
    body = orjson.dumps({"detail": "no such thing"})
    for before in ([], [(0, 1)]):
        service = Service(1, [*before, Answer(status, {}, body)])
        with pytest.raises(ServiceError, match="no such thing") as caught:
            service.follow(Feed(), 1)
        assert caught.value.status == status


def test_the_first_connection_is_tried_as_often_as_any_request() -> None:
    service = Service(1, [Failure("refused", sent=False)] * 3)
    service.follow(Feed(), 1)
    assert service.given == [1]
    service = Service(1, [Failure("refused", sent=False)] * 4)
    with pytest.raises(ServiceError, match="http://service cannot be reached: refused"):
        service.follow(Feed(), 1)


def test_patience_ends() -> None:
    service = Service(1, [(0, 1), Failure("refused", sent=False)])
    with pytest.raises(ServiceError, match="cannot be reached"):
        service.follow(Feed(), 1, patience=-1.0)


def test_something_else_than_a_stream_is_refused() -> None:
    service = Service(1, [Answer(200, {"content-type": "text/html"}, b"<html>")])
    with pytest.raises(ServiceError, match="unexpected answer"):
        service.follow(Feed(), 1)


@pytest.mark.parametrize("data", [b"data: {\n\n", b"data: {}\n\n", b"data: []\n\n"])
def test_what_is_no_notification_is_an_error(data: bytes) -> None:
    service = Service(1, [])
    service.open = lambda request: Answer(200, STREAM, b"")  # type: ignore[method-assign]
    service.pieces = iter([data])
    with pytest.raises(ServiceError, match="an event of the stream not understood"):
        service.follow(Feed(), 1)


def test_an_event_of_another_kind_is_passed_over() -> None:
    event = orjson.dumps({**cloud_event(9), "type": "geocast.news.v1"})
    feed = Feed()
    feed.receive(b"id: 9\ndata: %s\n\n" % event)
    assert not feed.waiting
    assert feed.request().headers["last-event-id"] == "9"


def test_memory_is_bounded() -> None:
    feed = Feed(remember=10)
    for cursor in range(1, 101):
        feed.receive(sse(cursor) + sse(cursor))
    assert len(feed.waiting) == 100
    assert len(feed._seen) == 10


def test_a_withdrawal_is_told_apart_from_its_match() -> None:
    feed = Feed()
    feed.receive(sse(1))
    feed.receive(b"data: %s\n\n" % orjson.dumps(cloud_event(1, withdrawn=True)))
    match, withdrawal = feed.waiting
    assert (match.kind, withdrawal.kind) == ("match", "withdrawal")
    assert match.match == withdrawal.match
    assert match.id != withdrawal.id
    assert withdrawal.feature is None


def test_what_a_notification_tells() -> None:
    notification = Notification.of(cloud_event(7, subscription="mine", version=3))
    assert notification is not None
    assert (notification.cursor, notification.id, notification.publication) == (7, "m7", "p7")
    assert (notification.publisher, notification.subscription) == ("alice", "mine")
    assert notification.version == 3
    assert notification.feature is not None
    assert notification.feature["id"] == "p7"
    assert (notification.notified - notification.published).total_seconds() == 0.5
    assert notification.published.microsecond == 250
    assert notification.delay == (notification.received - notification.published).total_seconds()
