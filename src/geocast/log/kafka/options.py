"""How Kafka is reached: addresses, security, and what its client library is told."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

from geocast.errors import InputError, UnknownNameError

__all__ = ["SCHEME", "KafkaOptions"]

SCHEME: Final = "kafka"
"""How the address of a Kafka log begins: kafka://host:port,host:port/prefix."""

_SECURITY: Final = ("plaintext", "ssl", "sasl_plaintext", "sasl_ssl")
_MECHANISMS: Final = ("SCRAM-SHA-256", "SCRAM-SHA-512", "PLAIN")
_PREFIX: Final = "geocast"
_LONGEST_PREFIX: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaOptions:
    """The brokers, the first part of all topics' names, and how to be let in.

    `ca`, `certificate` and `key` are PEM files: whom to trust, and who this client is. A
    `replication` of -1 is the brokers' default.
    """

    servers: str
    prefix: str = _PREFIX
    security: str = "plaintext"
    mechanism: str = "SCRAM-SHA-512"
    user: str = ""
    password: str = field(default="", repr=False)
    ca: str = ""
    certificate: str = ""
    key: str = ""
    replication: int = -1

    def __post_init__(self) -> None:
        """Raise InputError for what cannot work."""
        if self.security not in _SECURITY:
            raise UnknownNameError("Kafka security", self.security, _SECURITY)
        if self.mechanism not in _MECHANISMS:
            raise UnknownNameError("SASL mechanism", self.mechanism, _MECHANISMS)
        if self.security.startswith("sasl") and not (self.user and self.password):
            raise InputError(
                f"Kafka security {self.security!r} needs GEOCAST_KAFKA_USER, and "
                "GEOCAST_KAFKA_PASSWORD or GEOCAST_KAFKA_PASSWORD_FILE"
            )

    @classmethod
    def of(cls, url: str, **given: Any) -> KafkaOptions:
        """Return the options for an address; raises InputError where it is none."""
        parts = urlsplit(url)
        if parts.scheme != SCHEME or not parts.netloc or "@" in parts.netloc:
            raise InputError(
                f"{url!r} is not the address of a Kafka log, such as "
                f"{SCHEME}://host:9092 or {SCHEME}://host-1:9092,host-2:9092/prefix"
            )
        prefix = parts.path.strip("/") or _PREFIX
        if not _is_topic_part(prefix):
            raise InputError(
                f"{prefix!r} cannot begin names of topics: letters, digits, '.' and '-', "
                f"at most {_LONGEST_PREFIX}"
            )
        return cls(servers=parts.netloc, prefix=prefix, **given)

    @property
    def url(self) -> str:
        """The address, as messages name it."""
        return f"{SCHEME}://{self.servers}/{self.prefix}"

    def client(self) -> dict[str, Any]:
        """Return what every client of librdkafka is told."""
        settings: dict[str, Any] = {
            "bootstrap.servers": self.servers,
            "security.protocol": self.security,
            "client.id": "geocast",
            "log_level": 0,
            "socket.keepalive.enable": True,
            "reconnect.backoff.ms": 50,
            "reconnect.backoff.max.ms": 1000,
        }
        if self.security.startswith("sasl"):
            settings["sasl.mechanism"] = self.mechanism
            settings["sasl.username"] = self.user
            settings["sasl.password"] = self.password
        files = {"ca": self.ca, "certificate": self.certificate, "key": self.key}
        settings.update({f"ssl.{name}.location": file for name, file in files.items() if file})
        return settings


def _is_topic_part(text: str) -> bool:
    allowed = text.isascii() and text.replace(".", "").replace("-", "").isalnum()
    return allowed and len(text) <= _LONGEST_PREFIX
