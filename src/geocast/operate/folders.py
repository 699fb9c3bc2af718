"""A folder on each machine of a cluster, for copies that can be made again."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from geocast.errors import StateError
from geocast.operate.settings import Settings

__all__ = ["on_this_machine"]


def on_this_machine(path: Path) -> Path:
    """Return where a path is here: a relative one lies in the folder for copies, which is made.

    That folder is GEOCAST_NODE_FOLDER, else one of this user among the temporary files. Raises
    StateError where it belongs to somebody else, or cannot be made.
    """
    if path.is_absolute():
        return path
    named = Settings.of().node_folder
    folder = Path(named or Path(tempfile.gettempdir()) / f"geocast-{os.getuid()}")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        owner = folder.lstat().st_uid
    except OSError as error:
        raise StateError(f"no copies can be kept in {folder}: {error.strerror}") from error
    if folder.is_symlink() or owner != os.getuid():
        raise StateError(f"no copies can be kept in {folder}: it belongs to somebody else")
    return folder / path
