"""Spark's Java classes, loaded once and kept in a form that Java maps into memory.

    python -m geocast.pipeline.archive

makes the archive: it runs a small live stream and has Java write down what it loaded. Starting
Spark then takes half of the processor time. Without an archive everything works, only later.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pyspark
from pyspark import SparkContext

from geocast.log import SqliteLog
from geocast.operate import Place, Settings, is_held

__all__ = ["archive_file", "archive_options", "main"]

_RECORD = "--record"


def archive_file() -> Path:
    """Return where the archive for this Spark and this Java lies, or would lie."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    home = Path(pyspark.__file__).parent
    java_home = os.environ.get("JAVA_HOME")
    java = shutil.which(os.path.join(java_home, "bin", "java") if java_home else "java")
    name = f"{pyspark.__version__} {home} {os.path.realpath(java or '')}"
    digest = hashlib.blake2b(name.encode(), digest_size=8).hexdigest()
    return base / "geocast" / "java" / f"{digest}.jsa"


def archive_options() -> str:
    """Return the options that make Java use the archive, if there is one."""
    file = archive_file()
    return f"-XX:SharedArchiveFile={file} -Xshare:auto" if file.exists() else ""


def main() -> None:
    """Make the archive unless it is there; say how long it took, or that it could not be made."""
    if sys.argv[1:2] == [_RECORD]:
        _record(Path(sys.argv[2]))
        return
    file = archive_file()
    if file.exists():
        print(f"Spark's classes are kept in {file}")
        return
    began = time.monotonic()
    file.parent.mkdir(parents=True, exist_ok=True)
    fresh = file.with_suffix(f".{os.getpid()}")
    command = [sys.executable, "-m", "geocast.pipeline.archive", _RECORD, str(fresh)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode or not fresh.exists():
        said = done.stderr.strip().splitlines()[-1:] or ["Java wrote nothing"]
        print(f"Spark's classes could not be kept, so Spark starts more slowly: {said[0]}")
        return
    fresh.replace(file)
    print(f"Spark's classes kept in {file}, in {time.monotonic() - began:.0f} s")


def _record(file: Path) -> None:
    """Run a live stream for a moment; Java writes the archive when it ends."""
    from geocast.pipeline.service import run_pipeline

    stop = threading.Event()
    with tempfile.TemporaryDirectory(prefix="geocast-archive-") as name:
        place = Place(Path(name))
        log = SqliteLog.open(place.publications, 2)
        log.append([(f"nobody/{number}", b"{}") for number in range(10)])
        threading.Thread(target=_stop_when_ready, args=(place, stop), daemon=True).start()
        run_pipeline(place, Settings(), "local[2]", stop, java=f"-XX:ArchiveClassesAtExit={file}")
    gateway = SparkContext._gateway
    assert gateway is not None
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait()


def _stop_when_ready(place: Place, stop: threading.Event) -> None:
    while not is_held(place.ready):
        time.sleep(0.1)
    stop.set()


if __name__ == "__main__":
    main()
