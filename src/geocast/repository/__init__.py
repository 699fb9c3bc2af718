"""What a service must remember: accounts, subscriptions, the ledger, mailboxes, dead letters."""

from geocast.repository.repository import Repository
from geocast.repository.values import (
    SUBSCRIPTIONS,
    Bounds,
    Changes,
    DeadLetter,
    Endpoint,
    Owners,
    Pinned,
    Subscription,
    TokenInfo,
    VersionFact,
    Wanted,
    Withdrawn,
)

__all__ = [
    "SUBSCRIPTIONS",
    "Bounds",
    "Changes",
    "DeadLetter",
    "Endpoint",
    "Owners",
    "Pinned",
    "Repository",
    "Subscription",
    "TokenInfo",
    "VersionFact",
    "Wanted",
    "Withdrawn",
]
