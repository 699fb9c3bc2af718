"""What a service must remember: accounts, subscriptions, the ledger, mailboxes, dead letters."""

from geocast.repository.joining import joined
from geocast.repository.mailbox import MOST_BYTES
from geocast.repository.membership import Membership
from geocast.repository.repository import Repository
from geocast.repository.values import (
    SUBSCRIPTIONS,
    TOPIC_SCHEME,
    Bounds,
    Changes,
    DeadLetter,
    Division,
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
    "MOST_BYTES",
    "SUBSCRIPTIONS",
    "TOPIC_SCHEME",
    "Bounds",
    "Changes",
    "DeadLetter",
    "Division",
    "Endpoint",
    "Membership",
    "Owners",
    "Pinned",
    "Repository",
    "Subscription",
    "TokenInfo",
    "VersionFact",
    "Wanted",
    "Withdrawn",
    "joined",
]
