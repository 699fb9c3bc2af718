"""The URL of a repository: which databases there are, and how one is shown without its password."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from geocast.errors import InputError

__all__ = ["check_no_password", "parsed", "shown"]

_FORMS: Final = "sqlite:///FILE or postgresql://USER@HOST/DATABASE"
_POSTGRESQL: Final = frozenset({"postgresql", "postgres", "postgresql+psycopg"})
_SECRET: Final = "password"
_FILE: Final = "password_file"


def parsed(url: str) -> URL:
    """Return the URL of a repository, with its driver; raises InputError if it is none.

    A parameter `password_file` is read, and its first line becomes the password.
    """
    found = _made(url)
    if found.drivername in _POSTGRESQL:
        return _with_password(_checked(found.set(drivername="postgresql+psycopg")))
    if found.drivername != "sqlite" or found.database in (None, "", ":memory:"):
        raise InputError(f"{shown(found)!r}: a repository is {_FORMS}")
    return found


def _made(url: str) -> URL:
    try:
        return make_url(url)
    except (ArgumentError, ValueError):
        # Whatever it is, a part of it may be a password.
        raise InputError(f"that is not the URL of a repository: {_FORMS}") from None


def check_no_password(url: str) -> None:
    """Raise InputError if a URL has a password: on a command line everybody could see it."""
    found = _made(url)
    if found.password is not None or _SECRET in found.query:
        raise InputError(
            "a password on the command line can be seen by others: give the URL by "
            "GEOCAST_REPOSITORY, or the password by GEOCAST_REPOSITORY_PASSWORD_FILE"
        )


def _checked(url: URL) -> URL:
    if not url.database:
        raise InputError(f"{shown(url)!r} names no database: {_FORMS}")
    return url


def shown(url: URL) -> str:
    """Return a URL as it may be printed: without anything that is secret."""
    open_words = {name: value for name, value in url.query.items() if _SECRET not in name.lower()}
    plain = url.set(drivername=url.get_backend_name(), query=open_words)
    return plain.render_as_string(hide_password=True)


def _with_password(url: URL) -> URL:
    file = url.query.get(_FILE)
    if file is None:
        return url
    if not isinstance(file, str):
        raise InputError(f"{shown(url)!r} names more than one password file")
    return url.difference_update_query([_FILE]).set(password=_first_line(file))


def _first_line(file: str) -> str:
    try:
        lines = Path(file).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise InputError(f"the password file {file} cannot be read: {reason}") from None
    if not lines or not lines[0]:
        raise InputError(f"the password file {file} is empty")
    return lines[0]
