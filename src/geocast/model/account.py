"""Accounts: who may do what."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Account", "Right"]


class Right(StrEnum):
    """What an account may do. `ADMIN` manages accounts and sees how the service fares."""

    PUBLISH = "publish"
    SUBSCRIBE = "subscribe"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class Account:
    """Somebody who publishes or subscribes; `number` is the repository's own."""

    number: int
    name: str
    rights: frozenset[Right]
    created: int
