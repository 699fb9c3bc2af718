"""TLS of a server: its certificate and key, from files that may be replaced while it runs."""

from __future__ import annotations

import logging
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Final

from geocast.errors import InputError

__all__ = ["Certificate"]

_MISMATCH: Final = "KEY_VALUES_MISMATCH"
_log: Final = logging.getLogger(__name__)


class Certificate:
    """A certificate, its chain, and its key, as PEM; `context` is what a server needs.

    The key may stand in the file of the certificate. Raises InputError, which names the file, for
    what is missing, cannot be read, or does not belong together.
    """

    def __init__(self, file: str, key: str, password: Callable[[], str]) -> None:
        self._file = file
        self._key = key or file
        self._password = password
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.minimum_version = ssl.TLSVersion.TLSv1_2
        self._seen = self._stamp()
        self._load(self.context)

    def refresh(self) -> bool:
        """Use what the files hold now, if they were replaced; tell whether that was done.

        New connections have it. Where it cannot be used, what was there stays, and that is logged.
        """
        stamp = self._stamp()
        if stamp == self._seen:
            return False
        self._seen = stamp
        try:
            self._load(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER))
            self._load(self.context)
        except InputError as error:
            _log.error("the new certificate is not used: %s", error)
            return False
        _log.info("the certificate %s is used as it is now", self._file)
        return True

    def _load(self, context: ssl.SSLContext) -> None:
        for path in (self._file, self._key):
            _check_readable(path)
        try:
            # Without a password, OpenSSL would ask whoever sits at the terminal.
            context.load_cert_chain(self._file, self._key, self._password)
        except ssl.SSLError as error:
            raise InputError(self._explained(error)) from None
        except ValueError as error:
            raise InputError(f"TLS: the password of the key {self._key}: {error}") from None

    def _explained(self, error: ssl.SSLError) -> str:
        if error.reason == _MISMATCH:
            return f"TLS: the key {self._key} is not that of the certificate {self._file}"
        if not _is_certificate(self._file):
            return f"TLS: {self._file} has no certificate in PEM"
        if "ENCRYPTED" in Path(self._key).read_text(errors="replace"):
            hint = "GEOCAST_TLS_KEY_PASSWORD or GEOCAST_TLS_KEY_PASSWORD_FILE"
            return f"TLS: the key {self._key} cannot be decrypted: check {hint}"
        return f"TLS: {self._key} has no key in PEM"

    def _stamp(self) -> list[tuple[int, int, int] | None]:
        return [_stat(path) for path in (self._file, self._key)]


def _check_readable(path: str) -> None:
    try:
        with Path(path).open("rb") as file:
            file.read(1)
    except OSError as error:
        raise InputError(f"TLS: {path}: {error.strerror}") from None


def _is_certificate(path: str) -> bool:
    try:
        ssl.create_default_context(cafile=path)
    except ssl.SSLError:
        return False
    return True


def _stat(path: str) -> tuple[int, int, int] | None:
    try:
        found = Path(path).stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
