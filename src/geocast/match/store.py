"""Standing subscriptions as files that many processes map into memory.

A directory with two files: all arrays one after another, and a manifest that tells where each of
them lies, and has the attribute constraints as CQL2 JSON. The manifest is written last: a directory
without it is not complete. There are few files because opening one takes longer than reading it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from geocast.errors import InputError
from geocast.language import constraint_from_json, constraint_to_json
from geocast.match.content import Scan
from geocast.match.geometry.shapes import frozen
from geocast.match.part import Part
from geocast.match.rest import RestCheck
from geocast.match.standing import Standing
from geocast.match.strings import Strings

__all__ = ["FORMAT", "load", "load_arrays", "save", "save_arrays"]

FORMAT: Final = 5
"""Raised whenever the layout changes; files of a format that is not readable are refused."""

_READABLE: Final = range(3, FORMAT + 1)
"""Before 4, ids had no heads; before 5, packed trees no sizes, and cells a quadtree beside them."""

Layout = dict[str, tuple[int, str, list[int]]]
"""Where in the file each array begins, its type and its shape."""

_MANIFEST: Final = "manifest.json"
_ARRAYS: Final = "arrays.bin"
_GROUPS: Final = ("positive", "complement")
_ALIGNMENT: Final = 64


def save(standing: Standing, directory: Path) -> None:
    """Write everything into the directory, the manifest last."""
    arrays = {"rows.subscription": standing.subscription}
    for group, part in zip(_GROUPS, standing.parts, strict=True):
        arrays |= {f"{group}.{name}": array for name, array in part.arrays().items()}
    arrays |= {f"rest.{name}": array for name, array in standing.rest.arrays().items()}
    arrays |= {f"ids.{name}": array for name, array in standing.ids.arrays().items()}
    facts = {
        "index": standing.index,
        "direct": standing.direct,
        "constraints": [json.loads(constraint_to_json(c)) for c in standing.rest.constraints],
    }
    save_arrays(directory, arrays, facts)


def load(directory: Path) -> Standing:
    """Open what `save` wrote; arrays are mapped, not read."""
    arrays, facts = load_arrays(directory)

    def of(group: str) -> dict[str, NDArray[Any]]:
        own = f"{group}."
        return {k.removeprefix(own): v for k, v in arrays.items() if k.startswith(own)}

    parts = [Part.from_arrays(of(group), facts["index"]) for group in _GROUPS]
    rest = of("rest")
    constraints = [constraint_from_json(json.dumps(c)) for c in facts["constraints"]]
    scan = Scan(constraints, rest["scan_off"], rest["scan_items"])
    return Standing(
        ids=Strings.from_arrays(of("ids")),
        subscription=arrays["rows.subscription"],
        parts=(parts[0], parts[1]),
        rest=RestCheck(scan, constraints, rest),
        direct=facts["direct"],
        index=facts["index"],
    )


def save_arrays(
    directory: Path, arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]
) -> None:
    """Write arrays and facts (anything that JSON can hold) into a directory, which is made."""
    directory.mkdir(parents=True, exist_ok=True)
    layout: Layout = {}
    with (directory / _ARRAYS).open("wb") as file:
        for name, array in arrays.items():
            file.write(bytes(-file.tell() % _ALIGNMENT))
            layout[name] = (file.tell(), array.dtype.str, list(array.shape))
            file.write(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    manifest = {"format": FORMAT, **facts, "arrays": layout}
    (directory / _MANIFEST).write_text(json.dumps(manifest))


def load_arrays(directory: Path) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Open what `save_arrays` wrote: arrays by name, mapped, and the facts."""
    try:
        facts = json.loads((directory / _MANIFEST).read_text())
        found = facts.pop("format")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{directory} does not hold a saved matcher: {error}") from None
    if found not in _READABLE:
        raise InputError(
            f"{directory} has format {found}, this version reads {_READABLE[0]} to {FORMAT}"
        )
    path = directory / _ARRAYS
    size = path.stat().st_size
    whole = np.memmap(path, np.uint8, "r") if size else np.empty(0, np.uint8)
    arrays = {}
    for name, (start, kind, shape) in facts.pop("arrays").items():
        dtype = np.dtype(kind)
        end = start + dtype.itemsize * int(np.prod(shape))
        if end > size:
            raise InputError(f"{path} is cut short: {size} bytes, and {name} ends at {end}")
        arrays[name] = frozen(whole[start:end].view(dtype).reshape(shape))
    return arrays, facts
