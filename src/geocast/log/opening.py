"""Which logs a service has: in its directory, or in Kafka where a setting names it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from geocast.log.base import Log
from geocast.log.sqlite import SqliteLog
from geocast.operate import Place, Settings, on_this_machine

__all__ = ["LogPlace", "kafka_options", "matches", "publications"]

_PUBLICATIONS: Final = "publications"
_MATCHES: Final = "matches"


@dataclass(frozen=True, slots=True)
class LogPlace:
    """Where a log is; can be sent to other processes, which open it for themselves.

    `url` is empty for a log in `directory`; a log in Kafka has its table of keys there, or, if the
    path is relative, in each machine's folder for copies. Passwords are not part of it: each
    process has them from its own environment.
    """

    directory: Path
    partitions: int
    unique_keys: bool
    url: str = ""

    @property
    def kafka(self) -> bool:
        """Whether it is a topic."""
        return bool(self.url)

    def open(self) -> Log:
        """Open the log, or make it."""
        if not self.url:
            return SqliteLog.open(self.directory, self.partitions, self.unique_keys)
        return self._open_topic()

    def open_existing(self) -> Log:
        """Open the log; raises StateError where there is none in its directory."""
        return self._open_topic() if self.url else SqliteLog.open_existing(self.directory)

    def _open_topic(self) -> Log:
        # Only those who have Kafka wait for its library.
        from geocast.log.kafka import KafkaLog
        from geocast.log.kafka.events import feature_of, publication_headers

        options, name = kafka_options(Settings.of(log=self.url)), self.directory.name
        if not self.unique_keys:
            return KafkaLog.open(options, name, self.partitions)
        return KafkaLog.open(
            options,
            name,
            self.partitions,
            keys=on_this_machine(self.directory),
            headers=publication_headers,
            decode=feature_of,
        )


def publications(place: Place, settings: Settings) -> LogPlace:
    """Return the log of publications of a service."""
    return LogPlace(place.publications, settings.partitions, True, settings.log)


def matches(place: Place, settings: Settings) -> LogPlace:
    """Return the log of matches of a service."""
    return LogPlace(place.matches, settings.partitions, False, settings.log)


def kafka_options(settings: Settings) -> Any:
    """Return how the Kafka of the settings is reached; InputError where they name none."""
    from geocast.log.kafka.options import KafkaOptions

    return KafkaOptions.of(
        settings.log,
        security=settings.kafka_security.lower(),
        mechanism=settings.kafka_mechanism.upper(),
        user=settings.kafka_user,
        password=settings.kafka_secret,
        ca=settings.kafka_ca,
        certificate=settings.kafka_certificate,
        key=settings.kafka_key,
        replication=settings.kafka_replication,
    )
