"""Signatures of webhooks, by the rules of Standard Webhooks: HMAC-SHA256 of id, time and body."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
from typing import Final

from geocast.errors import InputError

__all__ = ["new_secret", "sign", "signing_key"]

_PREFIX: Final = "whsec_"


def new_secret() -> str:
    """Return a fresh secret of 32 random bytes, in the form that libraries for receivers read."""
    return _PREFIX + base64.b64encode(secrets.token_bytes(32)).decode("ascii")


def signing_key(secret: str) -> bytes:
    """Return the key that a secret stands for.

    What follows `whsec_` is base64; any other text is its own UTF-8 bytes. Raises InputError
    where there is no key in it; the message does not repeat the secret.
    """
    if not secret.startswith(_PREFIX):
        key = secret.encode()
    else:
        try:
            key = base64.b64decode(secret.removeprefix(_PREFIX), validate=True)
        except (binascii.Error, ValueError):
            raise InputError(f"webhook secret: what follows {_PREFIX!r} is not base64") from None
    if not key:
        raise InputError("webhook secret: it is empty")
    return key


def sign(key: bytes, identifier: str, timestamp: int, body: bytes) -> str:
    """Return the value of the header `webhook-signature`."""
    content = b"%s.%d.%s" % (identifier.encode(), timestamp, body)
    digest = hmac.digest(key, content, hashlib.sha256)
    return "v1," + base64.b64encode(digest).decode("ascii")
