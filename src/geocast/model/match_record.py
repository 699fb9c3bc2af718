"""A matched publication on its way from the pipeline to delivery: one record of the match log.

The text is two lines: a JSON object that says where the publication stands and whom it
concerns, and the publication itself, as it was published.
"""

from __future__ import annotations

from dataclasses import dataclass

import orjson

__all__ = ["MatchRecord"]


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
        return orjson.dumps(head) + b"\n" + self.feature

    @classmethod
    def decode(cls, value: bytes) -> MatchRecord:
        """Return what `encode` wrote; raises ValueError if it did not write this."""
        head, _, feature = value.partition(b"\n")
        try:
            return cls(**orjson.loads(head), feature=feature)
        except TypeError as error:
            raise ValueError(f"not a match record: {error}") from error
