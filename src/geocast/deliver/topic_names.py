"""What topics of subscribers are called, for those who do not write to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from geocast.log import kafka_options
from geocast.operate import Settings

if TYPE_CHECKING:
    from geocast.repository import Endpoint

__all__ = ["SHARES", "TOPIC_SCHEME", "is_topic", "topic_name"]

SHARES: Final = 8
"""Into how many shares topics are divided, by the numbers of their endpoints."""

TOPIC_SCHEME: Final = "kafka:"
"""How the address of an endpoint begins that is a topic; its name follows."""


def is_topic(endpoint: Endpoint) -> bool:
    """Whether an endpoint is a topic, and not a webhook."""
    return endpoint.url.startswith(TOPIC_SCHEME)


def topic_name(settings: Settings, account: str) -> str | None:
    """Return the name of the topic of an account; None where the service has no Kafka.

    Kafka takes '.' and '_' for the same in some places: so '_' is written as 'U', which no name
    of an account has.
    """
    if not settings.log:
        return None
    prefix = kafka_options(settings).prefix
    return f"{prefix}.to.{account.replace('_', 'U')}"
