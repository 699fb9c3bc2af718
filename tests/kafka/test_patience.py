"""When waiting for brokers is given up."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException

from geocast.errors import StateError
from geocast.log.kafka import client
from geocast.log.kafka.client import Clients
from geocast.log.kafka.options import KafkaOptions

RESOLVE, AUTHENTICATION = KafkaError._RESOLVE, KafkaError._AUTHENTICATION


def failing(codes: list[int]) -> Clients:
    """Clients that have complained about all of these."""
    clients = Clients(KafkaOptions.of("kafka://127.0.0.1:1"))
    for code in codes:
        clients._complain(KafkaError(code))
    return clients


def asked(clients: Clients, code: int) -> int:
    """Ask for something that fails once in this way; return how often it was asked for."""
    asked = 0

    def ask() -> int:
        nonlocal asked
        asked += 1
        if asked == 1:
            raise KafkaException(KafkaError(code))
        return asked

    return clients.patiently(ask)


def test_who_gets_no_answer_and_knows_why_gives_up() -> None:
    with pytest.raises(StateError, match="the brokers' name is not known"):
        asked(failing([RESOLVE]), KafkaError._TIMED_OUT)
    with pytest.raises(StateError, match="the brokers refuse this user"):
        asked(failing([AUTHENTICATION, KafkaError._TRANSPORT]), KafkaError._TRANSPORT)


def test_a_broker_that_is_not_found_matters_not_while_others_answer() -> None:
    assert asked(failing([RESOLVE]), KafkaError.NOT_LEADER_FOR_PARTITION) == 2


def test_what_is_over_explains_no_later_silence() -> None:
    clients = failing([RESOLVE])
    assert asked(clients, KafkaError.NOT_LEADER_FOR_PARTITION) == 2
    assert asked(clients, KafkaError._TRANSPORT) == 2


def test_without_a_reason_it_is_tried_again() -> None:
    assert asked(failing([KafkaError._TRANSPORT]), KafkaError._TIMED_OUT) == 2


class Stuck:
    """A producer that never takes offsets into its transaction, whatever time it is given."""

    def __init__(self) -> None:
        self.released = threading.Event()
        self.committed = False

    def send_offsets_to_transaction(self, *_: object) -> None:
        self.released.wait()

    def commit_transaction(self, *_: object) -> None:
        self.committed = True


@pytest.fixture
def consumer() -> Iterator[Consumer]:
    consumer = Consumer({"group.id": "nobody", "bootstrap.servers": "127.0.0.1:1"})
    yield consumer
    consumer.close()


def test_a_transaction_does_not_wait_for_ever_for_a_broker_that_is_gone(
    monkeypatch: pytest.MonkeyPatch, consumer: Consumer
) -> None:
    monkeypatch.setattr(client, "_OFFSETS_SECONDS", -0.9)
    stuck = Stuck()
    with pytest.raises(KafkaException) as caught:
        failing([]).commit(stuck, [], consumer)
    stuck.released.set()
    assert caught.value.args[0].code() == KafkaError._TIMED_OUT
    assert not stuck.committed


def test_what_a_transaction_fails_of_is_told(consumer: Consumer) -> None:
    class Fenced(Stuck):
        def send_offsets_to_transaction(self, *_: object) -> None:
            raise KafkaException(KafkaError(KafkaError._FENCED))

    fenced = Fenced()
    with pytest.raises(KafkaException, match="FENCED"):
        failing([]).commit(fenced, [], consumer)
    assert not fenced.committed
