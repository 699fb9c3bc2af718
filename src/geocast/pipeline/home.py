"""The environment of Spark's Java on one machine, so that its Python processes start quickly.

Java tells every Python process that it starts to import pyspark from a zip file in Spark's home,
which holds no compiled modules: each compiles what it imports anew, for a second. A home without
that file leaves them to the installed package, which is the same and compiled.
"""

from __future__ import annotations

import os
import site
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pyspark

from geocast.pipeline.archive import archive_file

__all__ = ["quick_home", "spark_environment"]

_PARTS: Final = ("bin", "conf", "jars", "sbin")

# Java looks through all installed packages for data sources, in a Python of its own if it has one.
_NO_PYTHON: Final = "no-python-for-the-driver"


@contextmanager
def spark_environment(local: bool) -> Iterator[None]:
    """Set what a Java that is started within the block should have in its environment.

    What the user has set stays as it is; workers of another machine, or of another Python, need
    the whole home.
    """
    home = quick_home() if local and _is_ours() else None
    if home is None:
        yield
        return
    added = {"SPARK_HOME": str(home), "PYSPARK_DRIVER_PYTHON": _NO_PYTHON}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]


def quick_home() -> Path | None:
    """Return a home of Spark without pyspark's zip file, or None where none can be made."""
    archive = archive_file()
    home = archive.parents[1] / "spark" / archive.stem
    if home.is_dir():
        return home
    try:
        home.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix=f"{home.name}-", dir=home.parent))
        _link_parts(fresh)
    except OSError:
        return None
    try:
        fresh.rename(home)
    except OSError:  # another process was quicker
        for link in fresh.iterdir():
            link.unlink()
        fresh.rmdir()
    return home


def _link_parts(folder: Path) -> None:
    installed = Path(pyspark.__file__).parent
    for part in _PARTS:
        if (installed / part).exists():
            (folder / part).symlink_to(installed / part)


def _is_ours() -> bool:
    """Tell whether workers run this Python, which finds the installed pyspark by itself."""
    if any(name in os.environ for name in ("SPARK_HOME", "PYSPARK_DRIVER_PYTHON")):
        return False
    packages = Path(pyspark.__file__).parents[1]
    found = packages in {Path(folder) for folder in site.getsitepackages()}
    return found and os.environ.get("PYSPARK_PYTHON", sys.executable) == sys.executable
