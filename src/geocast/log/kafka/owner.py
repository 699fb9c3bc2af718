"""Whose topics these are: an installation must not take up those of another."""

from __future__ import annotations

from contextlib import closing

from confluent_kafka import TopicPartition

from geocast.errors import StateError
from geocast.log.kafka.client import Clients
from geocast.log.kafka.options import KafkaOptions

__all__ = ["claim"]


def claim(options: KafkaOptions, topic: str, deployment: str) -> None:
    """Note that the topics of this prefix belong to an installation.

    Raises StateError where they belong to another: their batches and positions, by which
    repetitions are known, mean nothing to this one.
    """
    clients = Clients(options)
    group = f"{options.prefix}.owner"
    with closing(clients.consumer(group_id=group)) as consumer:
        for place in clients.committed(consumer, [TopicPartition(topic, 0)]):
            if place.metadata and place.metadata != deployment:
                raise StateError(
                    f"{options.url}: the topics belong to the installation {place.metadata}, this "
                    f"is {deployment}: use another prefix, as in kafka://HOST:PORT/PREFIX, or its "
                    "data"
                )
        mark = TopicPartition(topic, 0, 0, metadata=deployment)
        clients.patiently(lambda: consumer.commit(offsets=[mark], asynchronous=False))
