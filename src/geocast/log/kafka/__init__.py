"""Logs in Kafka: a topic for publications, a topic for matches."""

from geocast.log.kafka.log import KafkaLog
from geocast.log.kafka.options import KafkaOptions

__all__ = ["KafkaLog", "KafkaOptions"]
