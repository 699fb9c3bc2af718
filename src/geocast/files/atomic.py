"""Outputs that are there as a whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from geocast.errors import InputError

__all__ = ["open_output"]

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def open_output(path: str | Path | None) -> Iterator[BinaryIO]:
    """Open an output for writing bytes; None or `-` is standard output.

    A file is written beside its place under a hidden name and moved there only when the
    block ends well; if it does not, what was there before is untouched. Something that
    exists and is no plain file, such as a named pipe, is written to directly. Raises
    InputError where the output cannot be opened.
    """
    if path is None or str(path) == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    target = Path(path)
    try:
        target = target.resolve()
        replace = target.is_file() or not target.exists()
        hidden = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
        file = (hidden if replace else target).open("xb" if replace else "wb")
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from error
    if replace:
        with _moved_when_done(hidden, target), file:
            yield file
    else:
        with file:
            yield file


@contextmanager
def _moved_when_done(hidden: Path, target: Path) -> Iterator[None]:
    try:
        yield
        with hidden.open("rb+") as file:
            os.fsync(file.fileno())
        hidden.replace(target)
    except BaseException as error:
        hidden.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno in _NO_ROOM:
            raise InputError(f"{target}: cannot be written: {error.strerror}") from error
        raise
