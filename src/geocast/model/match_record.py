"""A matched publication on its way from the pipeline to delivery: one record of the match log.

The text is a JSON object that says where the publication stands and whom it concerns; its last
member is the publication itself, as it was published.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import orjson

__all__ = ["MatchRecord"]

# Within a text of JSON a quotation mark has a backslash: so this can only begin a member.
_FEATURE: Final = b',"feature":'


@dataclass(frozen=True, slots=True)
class MatchRecord:
    """One publication and the subscription versions that it matched.

    `partition`, `offset` and `published` are its place and time in the log of publications;
    `batch` is the batch that matched it, `snapshot` the version of the subscriptions that the
    batch was pinned to; `versions` are the repository's numbers of subscription versions.
    """

    partition: int
    offset: int
    published: int
    publisher: str
    id: str
    batch: int
    snapshot: int
    versions: list[int]
    feature: bytes

    def encode(self) -> bytes:
        """Return the record as the log holds it."""
        head = {
            "partition": self.partition,
            "offset": self.offset,
            "published": self.published,
            "publisher": self.publisher,
            "id": self.id,
            "batch": self.batch,
            "snapshot": self.snapshot,
            "versions": self.versions,
        }
        return orjson.dumps(head)[:-1] + _FEATURE + self.feature + b"}"

    @classmethod
    def decode(cls, value: bytes) -> MatchRecord:
        """Return what `encode` wrote; raises ValueError if it did not write this."""
        at = value.find(_FEATURE)
        try:
            if at < 0 or value.find(b"\n", 0, at) >= 0:
                # As versions before 0.2 wrote it: two lines, the second is the publication.
                first, _, rest = value.partition(b"\n")
                return cls(**orjson.loads(first), feature=rest)
            return cls(**orjson.loads(value[:at] + b"}"), feature=value[at + len(_FEATURE) : -1])
        except TypeError as error:
            raise ValueError(f"not a match record: {error}") from error
