"""Where compiled kernels are kept."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

import numba

__all__ = ["cache_directory", "use_shared_cache"]

_HERE = Path(__file__).parent
_KERNEL_ROOMS = ("geometry", "index", "predicate", "relate")


def _source_digest() -> str:
    """Return a digest of all source that kernels consist of, or take constants from."""
    digest = hashlib.blake2b(numba.__version__.encode(), digest_size=8)
    for path in sorted(_HERE.rglob("*.py")):
        source = path.read_bytes()
        compiled = b"@njit" in source or b"@intrinsic" in source
        if compiled or path.relative_to(_HERE).parts[0] in _KERNEL_ROOMS:
            digest.update(source)
    digest.update((_HERE.parent / "model" / "predicate.py").read_bytes())
    return digest.hexdigest()


def cache_directory() -> Path:
    """Return the folder for the compiled kernels of exactly this source.

    It lies in $XDG_CACHE_HOME or ~/.cache, or in the temporary folder where that cannot be
    written; $NUMBA_CACHE_DIR replaces both.
    """
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    given = os.environ.get("NUMBA_CACHE_DIR")
    folder = Path(given) if given else base / "geocast" / "kernels"
    folder = folder / _source_digest()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        folder = Path(tempfile.gettempdir()) / f"geocast-kernels-{os.getuid()}" / folder.name
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder


def use_shared_cache() -> None:
    """Let numba keep compiled kernels in `cache_directory`; to be called before any is defined."""
    numba.config.CACHE_DIR = str(cache_directory())
