"""Where a service keeps its things, and how it is set: the one place that reads the environment."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from geocast.errors import InputError
from geocast.operate.tls import Certificate

__all__ = ["Place", "Settings"]

_PREFIX: Final = "GEOCAST_"
_TILES: Final = re.compile(
    r"https?://[A-Za-z0-9.-]+(:[0-9]+)?(?=/.*\{z\})(?=/.*\{x\})(?=/.*\{y\})/[!#-+\--:<-~]*"
)


@dataclass(frozen=True, slots=True)
class Place:
    """The data directory of a service, and the URL of its database where that is elsewhere."""

    root: Path
    database: str = field(default="", repr=False)

    @classmethod
    def of(cls, root: Path, settings: Settings) -> Place:
        """Return the place of a service that is set so."""
        return cls(root, settings.repository_url)

    @property
    def repository(self) -> str:
        """The URL of the repository: of the embedded one, unless another one is set."""
        return self.database or f"sqlite:///{self.root / 'repository.sqlite'}"

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
    tiles_url: str = ""
    tiles_attribution: str = ""
    repository: str = field(default="", repr=False)
    repository_password_file: str = ""
    repository_connections: int = 16
    log: str = ""
    kafka_security: str = "plaintext"
    kafka_mechanism: str = "SCRAM-SHA-512"
    kafka_user: str = ""
    kafka_password: str = field(default="", repr=False)
    kafka_password_file: str = ""
    kafka_ca: str = ""
    kafka_certificate: str = ""
    kafka_key: str = ""
    kafka_replication: int = -1
    snapshot_port: int = 0
    node_folder: str = ""
    tls_certificate: str = ""
    tls_key: str = ""
    tls_key_password: str = field(default="", repr=False)
    tls_key_password_file: str = ""

    def __post_init__(self) -> None:
        """Raise InputError for a value that cannot work."""
        if self.cells < 1:
            raise InputError(f"cells must be at least 1, not {self.cells}")
        if self.tiles_url and not _TILES.fullmatch(self.tiles_url):
            raise InputError(
                "tiles_url must be like https://tiles.example/{z}/{x}/{y}.png, "
                f"not {self.tiles_url!r}"
            )
        if self.tls_key and not self.tls_certificate:
            raise InputError(f"the TLS key {self.tls_key} needs GEOCAST_TLS_CERTIFICATE")
        if self.repository_connections < 2:
            raise InputError(
                f"repository_connections must be at least 2, not {self.repository_connections}"
            )

    @classmethod
    def of(cls, environment: Mapping[str, str] | None = None, **given: Any) -> Settings:
        """Return the settings: what is given, else the environment, else the default.

        A value of None counts as not given. Raises InputError for a value that cannot be read.
        """
        environment = os.environ if environment is None else environment
        values = {name: value for name, value in given.items() if value is not None}
        for one in fields(cls):
            text = environment.get(_PREFIX + one.name.upper())
            if text is not None and one.name not in values:
                values[one.name] = _parsed(one.name, text, type(one.default))
        return cls(**values)

    @property
    def repository_url(self) -> str:
        """The URL of the repository, naming the file of its password; empty where none is set."""
        if not self.repository or not self.repository_password_file:
            return self.repository
        mark = "&" if "?" in self.repository else "?"
        return f"{self.repository}{mark}password_file={quote(self.repository_password_file)}"

    @property
    def kafka_secret(self) -> str:
        """The password for Kafka: from its file where one is named."""
        return _secret("kafka_password_file", self.kafka_password_file, self.kafka_password)

    @property
    def tls_secret(self) -> str:
        """The password of the key of the gateway: from its file where one is named."""
        return _secret("tls_key_password_file", self.tls_key_password_file, self.tls_key_password)

    @property
    def scheme(self) -> str:
        """How the address of the gateway begins."""
        return "https" if self.tls_certificate else "http"

    @property
    def certificate(self) -> Certificate | None:
        """The certificate of the gateway, read now; None where it speaks plain HTTP."""
        if not self.tls_certificate:
            return None
        return Certificate(self.tls_certificate, self.tls_key, lambda: self.tls_secret)

    @property
    def webhook_waits(self) -> tuple[float, ...]:
        """The seconds to wait before each further attempt at a webhook."""
        try:
            return tuple(float(part) for part in self.webhook_schedule.split(",") if part.strip())
        except ValueError:
            raise InputError(
                f"webhook_schedule must be seconds with commas, not {self.webhook_schedule!r}"
            ) from None


def _secret(name: str, file: str, text: str) -> str:
    """Return what a file holds where one is named, else the text."""
    if not file:
        return text
    try:
        return Path(file).read_text().strip()
    except OSError as error:
        raise InputError(f"{_PREFIX}{name.upper()}: {file}: {error.strerror}") from None


def _parsed(name: str, text: str, kind: type) -> Any:
    try:
        if kind is bool:
            return {"1": True, "true": True, "0": False, "false": False}[text.strip().lower()]
        return kind(text)
    except (ValueError, KeyError):
        what = {bool: "true or false", int: "a whole number", float: "a number"}[kind]
        raise InputError(f"{_PREFIX}{name.upper()} must be {what}, not {text!r}") from None
