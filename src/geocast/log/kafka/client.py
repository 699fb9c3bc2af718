"""Clients of Kafka whose failures are sentences: what went wrong, and where."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from threading import Thread
from typing import Any, Final, TypeVar

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from geocast.errors import StateError
from geocast.log.kafka.options import KafkaOptions

__all__ = ["SECONDS", "Clients"]

_T = TypeVar("_T")

SECONDS: Final = 30.0
"""How long a broker is waited for."""

_OFFSETS_SECONDS: Final = 10.0
"""How long a transaction waits to take a group's offsets in: for the next leader to be found."""

_HINTS: Final = {
    KafkaError._AUTHENTICATION: "the brokers refuse this user: check GEOCAST_KAFKA_USER and "
    "GEOCAST_KAFKA_PASSWORD",
    KafkaError._SSL: "no TLS connection: check GEOCAST_KAFKA_SECURITY and GEOCAST_KAFKA_CA",
    KafkaError._ALL_BROKERS_DOWN: "no broker answers",
    KafkaError._TRANSPORT: "no broker answers",
    KafkaError._RESOLVE: "the brokers' name is not known",
    KafkaError.TOPIC_AUTHORIZATION_FAILED: "this user may not use the topic",
    KafkaError.CLUSTER_AUTHORIZATION_FAILED: "this user may not do that on the cluster",
    KafkaError.GROUP_AUTHORIZATION_FAILED: "this user may not use the consumer group",
    KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: "this user may not use the transactional id",
}
_TELLING: Final = (KafkaError._AUTHENTICATION, KafkaError._SSL, KafkaError._RESOLVE)
_MUTE: Final = (KafkaError._TIMED_OUT, KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN)
"""Errors without an answer of any broker; all others show that one can be reached."""

_PASSING: Final = (
    *_MUTE,
    KafkaError._WAIT_COORD,
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.FENCED_LEADER_EPOCH,
    KafkaError.UNKNOWN_LEADER_EPOCH,
    KafkaError.OFFSET_NOT_AVAILABLE,
    KafkaError.REPLICA_NOT_AVAILABLE,
    KafkaError.BROKER_NOT_AVAILABLE,
    KafkaError.KAFKA_STORAGE_ERROR,
    KafkaError.NETWORK_EXCEPTION,
    KafkaError.REQUEST_TIMED_OUT,
    KafkaError.NOT_ENOUGH_REPLICAS,
    KafkaError.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.NOT_COORDINATOR,
)
_AGAIN_SECONDS: Final = 0.05

# What the library says by itself is said again by errors; to be fenced off is no emergency.
_log: Final = logging.getLogger(__name__)
_silence: Final = logging.getLogger("geocast.log.kafka.library")
_silence.addHandler(logging.NullHandler())
_silence.propagate = False


class Clients:
    """Makes clients, and remembers what they last complained about.

    A call that fails for want of a connection says only that time is up; why there is none is
    told to `_complain` beforehand.
    """

    def __init__(self, options: KafkaOptions) -> None:
        self.options = options
        self._complaint: KafkaError | None = None

    def admin(self, **more: Any) -> AdminClient:
        """Return a client that makes and describes topics."""
        with self.sentences():
            return AdminClient(self._settings(more))

    def producer(self, **more: Any) -> Producer:
        """Return a client that writes; names of settings have '_' for '.'."""
        with self.sentences():
            settings = self._settings({"acks": "all", "enable_idempotence": True, **more})
            return Producer(settings, logger=_silence)

    def consumer(self, **more: Any) -> Consumer:
        """Return a client that reads what is committed."""
        reading = {
            "group_id": f"{self.options.prefix}.readers",
            "isolation_level": "read_committed",
            "enable_auto_commit": False,
            "enable_auto_offset_store": False,
            "auto_offset_reset": "earliest",
            "allow_auto_create_topics": False,
        }
        with self.sentences():
            return Consumer(self._settings({**reading, **more}))

    def connect(self, producer: Producer, topic: str | None = None) -> None:
        """Have a new producer connected to a broker, so that its transactions begin at once.

        It asks an address first who the brokers are, and leaves that for one of them; the second
        answer comes from there. Without it, it would look for a connection twice a second only.
        """
        for _ in range(2):
            producer.list_topics(topic, SECONDS)

    def commit(self, producer: Producer, marks: list[TopicPartition], consumer: Consumer) -> None:
        """Commit a producer's transaction together with offsets of a consumer's group.

        Raises KafkaException where that fails or takes too long; the producer is of no use then.
        Told to take offsets in, the library may wait for ever for a broker that is gone, whatever
        time it was given (librdkafka, issues 5456 and 5511): so it is left waiting.
        """
        member = consumer.consumer_group_metadata()
        _within(
            _OFFSETS_SECONDS + 1,
            lambda: producer.send_offsets_to_transaction(marks, member, _OFFSETS_SECONDS),
        )
        producer.commit_transaction(SECONDS)

    def committed(self, consumer: Consumer, places: list[TopicPartition]) -> list[TopicPartition]:
        """Return what a consumer's group has committed of some partitions.

        Waits for transactions that are being ended. An administrator's client could tell without
        knowing the partitions, but takes the process down where the group's broker has changed.
        """

        def ask() -> list[TopicPartition]:
            found: list[TopicPartition] = consumer.committed(places, SECONDS)
            for place in found:
                if place.error is not None:
                    raise KafkaException(place.error)
            return found

        return self.patiently(ask)

    def patiently(self, call: Callable[[], _T]) -> _T:
        """Return what a call returns, made again while brokers change places or start.

        Raises StateError where that takes too long, or waiting would not help.
        """
        deadline = time.monotonic() + SECONDS
        while True:
            try:
                found = call()
            except KafkaException as error:
                code = error.args[0].code()
                hopeless = code in _MUTE and self._knows_why()
                if code not in _PASSING or hopeless or time.monotonic() > deadline:
                    raise StateError(self.sentence(error.args[0])) from error
                time.sleep(_AGAIN_SECONDS)
            else:
                # What was complained about is over: it must not explain a later silence.
                self._complaint = None
                return found

    @contextmanager
    def sentences(self) -> Iterator[None]:
        """Make errors of Kafka within the block StateErrors that say what to look at."""
        try:
            yield
        except KafkaException as error:
            raise StateError(self.sentence(error.args[0])) from error

    def sentence(self, error: KafkaError) -> str:
        """Return what an error means, in a sentence."""
        if error.code() in _MUTE and self._complaint is not None:
            error = self._complaint
        hint = _HINTS.get(error.code())
        told = f"{hint} ({error.str()})" if hint else error.str()
        return f"{self.options.url}: {told}"

    def _settings(self, more: dict[str, Any]) -> dict[str, Any]:
        named = {name.replace("_", "."): value for name, value in more.items()}
        # A client that connects only when it has to waits for that: up to half a second at times.
        connected = {"enable.sparse.connections": False}
        return {**self.options.client(), **connected, **named, "error_cb": self._complain}

    def _complain(self, error: KafkaError) -> None:
        if error.code() in _TELLING or not self._knows_why():
            self._complaint = error

    def _knows_why(self) -> bool:
        """Whether there was a complaint that waiting does not help against."""
        return self._complaint is not None and self._complaint.code() in _TELLING


def _within(seconds: float, call: Callable[[], None]) -> None:
    """Do something that may never end, in a thread; raises KafkaException when time is up."""
    done: Future[None] = Future()
    Thread(target=_do, args=(call, done), name="transaction", daemon=True).start()
    try:
        done.result(seconds)
    except TimeoutError:
        _log.warning("a transaction is given up: no broker took its offsets in %.0f s", seconds)
        raise KafkaException(KafkaError(KafkaError._TIMED_OUT)) from None
    finally:
        del done  # an error knows this frame: together they would keep the producer's connections


def _do(call: Callable[[], None], done: Future[None]) -> None:
    try:
        call()
    except BaseException as error:
        done.set_exception(error)
    else:
        done.set_result(None)
    finally:
        del done
