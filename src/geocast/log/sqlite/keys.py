"""Keys as numbers: which partition a key belongs to, and what the index of keys holds."""

from __future__ import annotations

from hashlib import blake2b

from geocast.errors import InputError

__all__ = ["digest"]


def digest(key: str) -> int:
    """Return 64 bits of a key as a signed number, the same in every process and for ever."""
    try:
        encoded = key.encode()
    except UnicodeEncodeError:
        raise InputError(f"the key {key!r} is no valid text") from None
    return int.from_bytes(blake2b(encoded, digest_size=8).digest(), "little", signed=True)
