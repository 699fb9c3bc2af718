"""The first account of a service, and the token that opens it."""

from __future__ import annotations

import os
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Final

from geocast.errors import ConflictError
from geocast.model import Right
from geocast.operate import Place
from geocast.repository import Repository

__all__ = ["ADMIN", "ensure_admin"]

ADMIN: Final = "admin"
"""The account that the first start makes."""


def ensure_admin(place: Place, *, everywhere: bool) -> bool:
    """Make the administrator's account where there is none, and its token; tell if one was made.

    The token goes into the data directory. An account that has a token, but none in this
    directory, gets another one if `everywhere` says that each directory is to have one.
    """
    with closing(Repository.open(place.repository)) as repository:
        account = repository.accounts.get(ADMIN)
        if account is None:
            try:
                account = repository.accounts.add(ADMIN, Right)
            except ConflictError:  # another gateway was quicker
                return False
            # A token that is there belongs to another repository.
            place.admin_token.unlink(missing_ok=True)
        elif place.admin_token.exists() or (
            not everywhere and repository.accounts.tokens(account.number)
        ):
            return False
        _, token = repository.accounts.issue_token(account.number, "made by the first start")
        _write(place.admin_token, token + "\n")
        return True


def _write(path: Path, text: str) -> None:
    """Write a file that nobody else can read: it is there as a whole, or not at all."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}")
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(descriptor)
    Path(name).replace(path)
