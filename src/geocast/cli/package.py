"""`geocast package`: this environment as an archive, for machines of a cluster that lack it."""

from __future__ import annotations

import re
import sys
import tarfile
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from io import BytesIO
from pathlib import Path
from typing import Annotated, Final

import typer
from packaging.requirements import Requirement

import geocast
from geocast.cli.progress import Step, open_steps
from geocast.errors import InputError, StateError

__all__ = ["package"]

_ARCHIVE: Final = "geocast-environment.tar.gz"
_SUBMIT: Final = "geocast_submit.py"
_LEVEL: Final = 4
_OF_SPARK: Final = frozenset({"pyspark", "py4j"})
"""The cluster has its own, which has to be the one that its Java belongs to."""

_LAUNCHER: Final = """#!/bin/sh
# Python with the packages of this archive; Spark starts it on every machine. The archive lies
# elsewhere each time, so numba has to look for compiled kernels beside their source.
here=$(dirname "$(dirname "$(readlink -f "$0")")")
export PYTHONPATH="$here/packages${{PYTHONPATH:+:$PYTHONPATH}}"
export NUMBA_CACHE_LOCATOR_CLASSES="InTreeCacheLocator,UserProvidedCacheLocator"
exec "${{GEOCAST_BASE_PYTHON:-python{version}}}" "$@"
"""

_PROGRAM: Final = '''"""The program for spark-submit: the command `geocast`, with what follows."""

from geocast.cli.app import main

main()
'''


def package(
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="The directory to write to; made if missing.")
    ] = Path("geocast-package"),
) -> None:
    """Pack this environment for a Spark cluster whose machines do not have Geocast.

    Writes an archive of Geocast, its compiled kernels and all that it needs beside Spark, and a
    program for spark-submit. The machines need the same Spark, and the same Python (major and
    minor version, system, processor). docs/cluster.md has the commands for YARN and Kubernetes.
    """
    from geocast.match.warm import compiled_kernels, warm

    with open_steps() as steps:
        with steps.step("compiling kernels"):
            warm()
            kernels = list(compiled_kernels())
        if not kernels:
            raise StateError(
                "there are no compiled kernels to pack: pack where Geocast is installed, without "
                "NUMBA_CACHE_LOCATOR_CLASSES or NUMBA_DISABLE_JIT in the environment"
            )
        try:
            out.mkdir(parents=True, exist_ok=True)
            with steps.step("packing") as step:
                size = _pack(out / _ARCHIVE, kernels, step)
            (out / _SUBMIT).write_text(_PROGRAM)
        except OSError as error:
            raise InputError(f"cannot write to {out}: {error.strerror or error}") from None
    typer.echo(f"{out / _ARCHIVE}: {size / 1e6:.0f} MB")
    typer.echo(f"{out / _SUBMIT}: for spark-submit")


def _pack(archive: Path, kernels: Sequence[tuple[Path, Path]], step: Step) -> int:
    fresh = archive.with_suffix(".tmp")
    with tarfile.open(fresh, "w:gz", compresslevel=_LEVEL) as tar:
        _add_launcher(tar)
        for number, (file, name) in enumerate(_files(kernels), 1):
            tar.add(file, f"packages/{name}", recursive=False)
            if number % 200 == 0:
                step.update(number, f"{number:,} files")
    fresh.replace(archive)
    return archive.stat().st_size


def _add_launcher(tar: tarfile.TarFile) -> None:
    content = _LAUNCHER.format(version=f"{sys.version_info[0]}.{sys.version_info[1]}").encode()
    entry = tarfile.TarInfo("bin/python")
    entry.size, entry.mode = len(content), 0o755
    tar.addfile(entry, BytesIO(content))


def _files(kernels: Iterable[tuple[Path, Path]]) -> Iterator[tuple[Path, str]]:
    """Yield all files to pack, and their names among the packages."""
    home = Path(geocast.__file__).parent
    for file in sorted(home.rglob("*")):
        if file.is_file():
            yield file, str(Path("geocast") / file.relative_to(home))
    for file, folder in kernels:
        yield file, str(Path("geocast", folder.relative_to(home), "__pycache__", file.name))
    for found in _needed("geocast"):
        for entry in found.files or ():
            file = Path(str(found.locate_file(entry)))
            own = found.name == "geocast" and ".dist-info" not in str(entry)
            if file.is_file() and not own and ".." not in entry.parts:
                yield file, str(entry)


def _needed(root: str) -> list[Distribution]:
    """Return a distribution and all that it needs, without those of Spark."""
    found: dict[str, Distribution] = {}
    waiting = [Requirement(root)]
    asked: set[tuple[str, str]] = set()
    while waiting:
        wanted = waiting.pop()
        for extra in ("", *sorted(wanted.extras)):
            name = _normal(wanted.name)
            if name in _OF_SPARK or (name, extra) in asked:
                continue
            asked.add((name, extra))
            try:
                found.setdefault(name, distribution(name))
            except PackageNotFoundError:
                raise InputError(f"{wanted.name} is needed, but is not installed here") from None
            requires = [Requirement(text) for text in found[name].requires or ()]
            waiting += [
                one
                for one in requires
                if one.marker is None or one.marker.evaluate({"extra": extra})
            ]
    return [found[name] for name in sorted(found)]


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
