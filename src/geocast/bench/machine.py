"""What the benchmark ran on."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import shapely

__all__ = ["machine_facts"]

_PACKAGES = (
    "geocast",
    "numpy",
    "numba",
    "pyarrow",
    "shapely",
    "duckdb",
    "duckdb-extension-spatial",
    "sedonadb",
    "pyspark",
)


def machine_facts() -> dict[str, str]:
    """Return cores, memory and versions, in words."""
    facts = {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "memory": f"{_memory_bytes() / 2**30:.1f} GiB",
        "system": platform.platform(),
        "Python": platform.python_version(),
        "GEOS": shapely.geos_version_string,
    }
    return facts | {name: _version(name) for name in _PACKAGES}


def _processor() -> str:
    facts = Path("/proc/cpuinfo")
    lines = facts.read_text().splitlines() if facts.exists() else []
    names = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())


def _memory_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
