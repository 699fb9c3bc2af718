"""Where a service keeps its things, and how it is set: the one place that reads the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

from geocast.errors import InputError

__all__ = ["Place", "Settings"]

_PREFIX: Final = "GEOCAST_"


@dataclass(frozen=True, slots=True)
class Place:
    """The data directory of a service."""

    root: Path

    @property
    def repository(self) -> str:
        """The URL of the embedded repository."""
        return f"sqlite:///{self.root / 'repository.sqlite'}"

    @property
    def publications(self) -> Path:
        """The log of publications."""
        return self.root / "log" / "publications"

    @property
    def matches(self) -> Path:
        """The log of matches."""
        return self.root / "log" / "matches"

    @property
    def snapshots(self) -> Path:
        """The versions of all subscriptions, as files that workers map."""
        return self.root / "snapshots"

    @property
    def checkpoint(self) -> Path:
        """What Spark remembers of the stream."""
        return self.root / "checkpoint"

    @property
    def metrics(self) -> Path:
        """What the processes count, for /metrics."""
        return self.root / "metrics"

    @property
    def journal(self) -> Path:
        """What the processes say, one file each."""
        return self.root / "journal"

    @property
    def ready(self) -> Path:
        """Held by the pipeline while it is ready for publications."""
        return self.root / "pipeline-ready"

    @property
    def lock(self) -> Path:
        """Held by the service that uses this directory."""
        return self.root / "lock"

    @property
    def admin_token(self) -> Path:
        """The token that the first start makes."""
        return self.root / "admin-token"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All that can be set, each also by GEOCAST_<NAME> in the environment.

    Ages are in seconds, sizes in bytes, rates a second and for each account.
    """

    host: str = "127.0.0.1"
    port: int = 8400
    partitions: int = 2
    algorithm: str = "RIS"
    cells: int = 100
    max_body: int = 16 << 20
    publish_rate: float = 50_000.0
    request_rate: float = 500.0
    cors_origins: str = ""
    log_age: float = 7 * 86_400.0
    log_size: int = 4 << 30
    mailbox_age: float = 7 * 86_400.0
    batch_records: int = 20_000
    batch_bytes: int = 64 << 20
    allow_private_webhooks: bool = False
    webhook_timeout: float = 10.0
    webhook_schedule: str = "1,5,30,120,600"
    max_subscriptions: int = 100_000_000

    def __post_init__(self) -> None:
        """Raise InputError for a value that cannot work."""
        if self.cells < 1:
            raise InputError(f"cells must be at least 1, not {self.cells}")

    @classmethod
    def of(cls, environment: Mapping[str, str] | None = None, **given: Any) -> Settings:
        """Return the settings: what is given, else the environment, else the default.

        A value of None counts as not given. Raises InputError for a value that cannot be read.
        """
        environment = os.environ if environment is None else environment
        values = {name: value for name, value in given.items() if value is not None}
        for field in fields(cls):
            text = environment.get(_PREFIX + field.name.upper())
            if text is not None and field.name not in values:
                values[field.name] = _parsed(field.name, text, type(field.default))
        return cls(**values)

    @property
    def webhook_waits(self) -> tuple[float, ...]:
        """The seconds to wait before each further attempt at a webhook."""
        try:
            return tuple(float(part) for part in self.webhook_schedule.split(",") if part.strip())
        except ValueError:
            raise InputError(
                f"webhook_schedule must be seconds with commas, not {self.webhook_schedule!r}"
            ) from None


def _parsed(name: str, text: str, kind: type) -> Any:
    try:
        if kind is bool:
            return {"1": True, "true": True, "0": False, "false": False}[text.strip().lower()]
        return kind(text)
    except (ValueError, KeyError):
        what = {bool: "true or false", int: "a whole number", float: "a number"}[kind]
        raise InputError(f"{_PREFIX}{name.upper()} must be {what}, not {text!r}") from None
