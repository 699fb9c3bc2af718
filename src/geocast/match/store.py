"""Standing subscriptions as files that many processes map into memory.

A directory with one .npy file for every array, the ids as an Arrow file, the attribute constraints
as lines of CQL2 JSON, and a manifest that is written last: a directory without it is not complete.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geocast.errors import InputError
from geocast.language import constraint_from_json, constraint_to_json
from geocast.match.content import Scan
from geocast.match.geometry.shapes import frozen
from geocast.match.part import Part
from geocast.match.rest import RestCheck
from geocast.match.standing import Standing

__all__ = ["FORMAT", "load", "save"]

FORMAT: Final = 2
"""Raised whenever the layout changes; files of another format are refused."""

_MANIFEST: Final = "manifest.json"
_GROUPS: Final = ("positive", "complement")


def save(standing: Standing, directory: Path) -> None:
    """Write everything into the directory, the manifest last."""
    directory.mkdir(parents=True, exist_ok=True)
    groups = dict(zip(_GROUPS, standing.parts, strict=True))
    names: dict[str, list[str]] = {}
    for group, part in groups.items():
        names[group] = _write(directory, group, part.arrays())
    names["rest"] = _write(directory, "rest", standing.rest.arrays())
    _write(directory, "rows", {"subscription": standing.subscription})
    with pa.OSFile(str(directory / "ids.arrow"), "wb") as sink:
        table = pa.table({"id": standing.ids})
        with pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
    lines = [constraint_to_json(c) for c in standing.rest.constraints]
    (directory / "constraints.jsonl").write_text("".join(f"{line}\n" for line in lines))
    manifest = {
        "format": FORMAT,
        "index": standing.index,
        "direct": standing.direct,
        "arrays": names,
    }
    (directory / _MANIFEST).write_text(json.dumps(manifest))


def _write(directory: Path, group: str, arrays: dict[str, NDArray[Any]]) -> list[str]:
    for name, array in arrays.items():
        np.save(directory / f"{group}.{name}.npy", array)
    return sorted(arrays)


def load(directory: Path) -> Standing:
    """Open what `save` wrote; arrays are mapped, not read."""
    try:
        manifest = json.loads((directory / _MANIFEST).read_text())
    except (OSError, ValueError) as error:
        raise InputError(f"{directory} does not hold a saved matcher: {error}") from None
    if manifest["format"] != FORMAT:
        found = manifest["format"]
        raise InputError(f"{directory} has format {found}, this version reads {FORMAT}")
    names = manifest["arrays"]
    parts = [
        Part.from_arrays(_read(directory, group, names[group]), manifest["index"])
        for group in _GROUPS
    ]
    arrays = _read(directory, "rest", names["rest"])
    lines = (directory / "constraints.jsonl").read_text().splitlines()
    constraints = [constraint_from_json(line) for line in lines]
    scan = Scan(constraints, arrays["scan_off"], arrays["scan_items"])
    with pa.memory_map(str(directory / "ids.arrow")) as source:
        ids = pa.ipc.open_file(source).read_all().column("id")
    return Standing(
        ids=ids.chunk(0) if ids.num_chunks else pa.array([], pa.string()),
        subscription=_read(directory, "rows", ["subscription"])["subscription"],
        parts=(parts[0], parts[1]),
        rest=RestCheck(scan, constraints, arrays),
        direct=manifest["direct"],
        index=manifest["index"],
    )


def _read(directory: Path, group: str, names: list[str]) -> dict[str, NDArray[Any]]:
    return {
        name: frozen(np.load(directory / f"{group}.{name}.npy", mmap_mode="r")) for name in names
    }
