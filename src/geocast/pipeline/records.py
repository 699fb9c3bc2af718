"""Records of the log of publications to publications: each once, and only what can be used."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Final

import numpy as np
import pyarrow as pa

from geocast.files import Chunk, RecurringGeometries, read_texts
from geocast.log import Log
from geocast.model import ACCOUNT_NAME, Reject, split_key

__all__ = ["read_once"]

_ACCOUNT: Final = re.compile(ACCOUNT_NAME)


def read_once(
    log: Log,
    records: pa.RecordBatch,
    columns: Collection[str] | None,
    known: RecurringGeometries | None = None,
) -> Iterator[Chunk]:
    """Yield the publications among records of one partition that anybody may have written.

    What repeats an earlier record is left out. What has no publisher and id in its key, or
    another id in its Feature, is rejected. `rows` of a chunk are rows of `records`. Geometries
    that are `known` are not read again.
    """
    keys = records.column("key").to_pylist()
    marked = zip(keys, log.repeats(records), strict=True)
    fresh = np.flatnonzero([not repeated or not _names(key) for key, repeated in marked])
    texts = records.column("value").take(pa.array(fresh)).to_pylist()
    for chunk in read_texts(texts, columns=columns, known=known):
        rejects = tuple(replace(one, row=int(fresh[one.row])) for one in chunk.rejects)
        yield _checked(replace(chunk, rows=fresh[chunk.rows], rejects=rejects), keys)


def _checked(chunk: Chunk, keys: list[str]) -> Chunk:
    """Return a chunk without what its key does not name."""
    ids = chunk.batch.column("id").to_pylist()
    rows = chunk.rows.tolist()
    reasons = [_reason(keys[row], identifier) for row, identifier in zip(rows, ids, strict=True)]
    if not any(reasons):
        return chunk
    good = np.array([reason is None for reason in reasons])
    found = zip(rows, ids, reasons, strict=True)
    rejects = [Reject("publications", row, name, why) for row, name, why in found if why]
    return replace(
        chunk,
        batch=chunk.batch.filter(pa.array(good)),
        rows=chunk.rows[good],
        rejects=(*chunk.rejects, *rejects),
    )


def _names(key: str) -> bool:
    """Whether a key names a publisher and an id."""
    publisher, identifier = split_key(key)
    return bool(identifier) and _ACCOUNT.fullmatch(publisher) is not None


def _reason(key: str, identifier: str) -> str | None:
    if not _names(key):
        return f"the record's key is {key[:100]!r}, not PUBLISHER/ID"
    named = split_key(key)[1]
    if named != identifier:
        return f"the record's key names the id {named!r}, but the Feature has {identifier!r}"
    return None
