"""Names and ids: what an account may be called, how a publication and a match are told apart."""

from __future__ import annotations

import hashlib
import re
from typing import Final

from geocast.errors import InputError

__all__ = [
    "ACCOUNT_NAME",
    "MAX_ID",
    "check_account_name",
    "match_id",
    "publication_key",
    "split_key",
]

MAX_ID: Final = 256
"""The longest id of a publication or subscription, in characters."""

ACCOUNT_NAME: Final = r"^[a-z0-9][a-z0-9._-]{0,62}$"
"""The pattern of the name of an account."""

_SHOWN: Final = 64


def check_account_name(name: str) -> str:
    """Return the name of an account; raises InputError where it cannot be one."""
    if not re.fullmatch(ACCOUNT_NAME, name):
        raise InputError(
            f"{name[:_SHOWN]!r} cannot be the name of an account: lower-case letters, digits, "
            "'.', '_' and '-', beginning with a letter or digit, at most 63"
        )
    return name


def publication_key(publisher: str, identifier: str) -> str:
    """Return what a log knows a publication by: ids are unique to their publisher only."""
    return f"{publisher}/{identifier}"


def split_key(key: str) -> tuple[str, str]:
    """Return publisher and id of a publication's key."""
    publisher, _, identifier = key.partition("/")
    return publisher, identifier


def match_id(deployment: str, partition: int, offset: int, subscription: int, version: int) -> str:
    """Return the id of a match: the same however often the match is found or sent.

    `partition` and `offset` are the publication's place in its log, `subscription` is the number
    that the repository gave to the subscription, `deployment` names the whole installation.
    """
    text = f"{deployment}/{partition}/{offset}/{subscription}/{version}"
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
