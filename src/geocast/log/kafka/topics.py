"""Topics: made where they are missing, described, measured, and cut at the front."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any, Final, TypeVar

from confluent_kafka import (
    OFFSET_INVALID,
    IsolationLevel,
    KafkaError,
    KafkaException,
    TopicCollection,
)
from confluent_kafka import TopicPartition as Place
from confluent_kafka.admin import (
    AdminClient,
    DeletedRecords,
    ListOffsetsResultInfo,
    NewTopic,
    OffsetSpec,
)

from geocast.log.kafka.client import SECONDS, Clients

__all__ = ["LARGEST_RECORD", "Topic", "Topics"]

_T = TypeVar("_T")

LARGEST_RECORD: Final = 20 << 20
"""Bytes of the largest record that a topic of the service takes."""

_FIRST_SECONDS: Final = 2.0
# After a change of leaders a client may ask the former one for offsets again and again, without a
# pause, until the time is over: tens of thousands of times a second (librdkafka issue 4620).
# So it is given little time, a client anew, and a pause.
_OFFSET_SECONDS: Final = (0.5, 1.0, 2.0)
_PAUSE_SECONDS: Final = 0.5
_OUTDATED: Final = (
    KafkaError.FENCED_LEADER_EPOCH,
    KafkaError.UNKNOWN_LEADER_EPOCH,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError._TIMED_OUT,
)
_CONFIG: Final = {
    # The partition that takes a record in gives it its time, whatever a writer's clock says.
    "message.timestamp.type": "LogAppendTime",
    "max.message.bytes": str(LARGEST_RECORD),
    # What is read and old is dropped by the service: never what nobody has read yet.
    "retention.ms": "-1",
    "retention.bytes": "-1",
}


class Topic:
    """What Kafka says of a topic: its id, and how many partitions it has."""

    def __init__(self, name: str, identifier: str, partitions: int) -> None:
        self.name = name
        self.id = identifier
        self.partitions = partitions


class Topics:
    """The topics of a cluster; may be used by several threads."""

    def __init__(self, clients: Clients) -> None:
        self._clients = clients
        self._opened: Any = None
        self._lock = threading.Lock()

    def ensure(self, name: str, partitions: int, config: Mapping[str, str] = _CONFIG) -> Topic:
        """Return a topic, made now unless there is one."""
        found = self.describe(name)
        if found is not None:
            return found
        new = NewTopic(name, partitions, self._clients.options.replication, config=dict(config))
        try:
            self._wait(self._admin().create_topics([new])[name])
        except KafkaException as error:
            if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                with self._clients.sentences():
                    raise
        while (found := self.describe(name)) is None:
            threading.Event().wait(0.02)
        return found

    def remove(self, name: str) -> None:
        """Remove a topic with all that it holds, where there is one."""
        try:
            self._wait(self._admin().delete_topics([name])[name])
        except KafkaException as error:
            if error.args[0].code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
                with self._clients.sentences():
                    raise

    def describe(self, name: str) -> Topic | None:
        """Return what there is of that name."""
        answer = self._admin().describe_topics(TopicCollection([name]))[name]
        try:
            told = self._wait(answer)
        except KafkaException as error:
            if error.args[0].code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
                return None
            with self._clients.sentences():
                raise
        bits = (int(told.topic_id.get_most_significant_bits()) & _64) << 64
        bits |= int(told.topic_id.get_least_significant_bits()) & _64
        return Topic(name, f"{bits:032x}", len(told.partitions))

    def offsets(self, topic: Topic, spec: OffsetSpec) -> list[int]:
        """Return an offset of each partition; -1 where there is none of that kind."""
        return self._offsets(topic, spec, range(topic.partitions))

    def end(self, topic: Topic, partition: int) -> int:
        """Return the offset behind the last record of a partition that is committed."""
        return self._offsets(topic, OffsetSpec.latest(), range(partition, partition + 1))[0]

    def _offsets(self, topic: Topic, spec: OffsetSpec, partitions: range) -> list[int]:
        asked = {Place(topic.name, number): spec for number in partitions}
        committed = IsolationLevel.READ_COMMITTED

        patience = iter(_OFFSET_SECONDS)

        def ask() -> dict[int, ListOffsetsResultInfo]:
            admin = self._admin()
            seconds = next(patience, _OFFSET_SECONDS[-1])
            answers = admin.list_offsets(asked, isolation_level=committed, request_timeout=seconds)
            try:
                found = {place.partition: self._wait(answer) for place, answer in answers.items()}
                if any(one.offset == OFFSET_INVALID for one in found.values()):
                    # What is answered in place of an error, while a partition has no leader, or
                    # has another one than this client knows.
                    raise KafkaException(KafkaError(KafkaError.LEADER_NOT_AVAILABLE))
            except KafkaException as error:
                if error.args[0].code() in _OUTDATED:
                    self._forget(admin)
                    time.sleep(_PAUSE_SECONDS)
                raise
            return found

        told = self._clients.patiently(ask)
        return [told[number].offset for number in partitions]

    def cut(self, topic: Topic, firsts: list[int]) -> None:
        """Drop the records before an offset, in each partition."""
        places = [Place(topic.name, number, first) for number, first in enumerate(firsts)]

        def ask() -> None:
            answers: dict[Place, Future[DeletedRecords]] = self._admin().delete_records(places)
            for answer in answers.values():
                self._wait(answer)

        self._clients.patiently(ask)

    def groups(self) -> list[str]:
        """Return the ids of all consumer groups."""

        def ask() -> list[str]:
            answer = self._admin().list_consumer_groups(request_timeout=SECONDS)
            return [group.group_id for group in self._wait(answer).valid]

        return self._clients.patiently(ask)

    def _forget(self, admin: Any) -> None:
        """Use a new client from now on: this one has an outdated view of the brokers, for ever."""
        with self._lock:
            if self._opened is admin:
                self._opened = None

    def _admin(self) -> Any:
        with self._lock:
            if self._opened is None:
                admin = self._clients.admin()
                self._clients.patiently(lambda: _greet(admin))
                self._opened = admin
            return self._opened

    @staticmethod
    def _wait(answer: Future[_T]) -> _T:
        try:
            return answer.result(SECONDS)
        except TimeoutError:
            raise KafkaException(KafkaError(KafkaError._TIMED_OUT)) from None


def _greet(admin: AdminClient) -> None:
    """Ask a broker for something; what went wrong on the way is told before it fails."""
    try:
        admin.list_topics(timeout=_FIRST_SECONDS)
    finally:
        admin.poll(0)


_64: Final = (1 << 64) - 1
