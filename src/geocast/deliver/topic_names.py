"""What topics of subscribers are called, for those who do not write to them."""

from __future__ import annotations

from typing import Final

from geocast.log import kafka_options
from geocast.operate import Settings

__all__ = ["SHARES", "topic_name"]

SHARES: Final = 8
"""Into how many shares topics are divided, by the numbers of their endpoints."""


def topic_name(settings: Settings, account: str) -> str | None:
    """Return the name of the topic of an account; None where the service has no Kafka.

    Kafka takes '.' and '_' for the same in some places: so '_' is written as 'U', which no name
    of an account has.
    """
    if not settings.log:
        return None
    prefix = kafka_options(settings).prefix
    return f"{prefix}.to.{account.replace('_', 'U')}"
