"""What the client's core wants done and what comes of it, as plain values.

An operation is a generator of *actions* (`Steps`). Whoever runs it, the synchronous or the
asynchronous client, does what each action says and sends the outcome back in:

    Request   ->  Answer, or Failure
    Open      ->  Answer (its body is read only where the status is not 200), or Failure
    Read      ->  bytes of the opened answer, empty at its end, or Failure
    Wait      ->  None, after so many seconds
    Give      ->  None, once the user asks for more
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeAlias, TypeVar

__all__ = ["Action", "Answer", "Failure", "Give", "Open", "Read", "Request", "Steps", "Wait"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request; `path` is below the address of the service.

    `repeatable` says that sending it twice does no more than sending it once, so that it may be
    sent again when nobody knows whether it arrived.
    """

    method: str
    path: str
    query: Mapping[str, str | int] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    repeatable: bool = True


@dataclass(frozen=True, slots=True)
class Answer:
    """What the service said; the names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Failure:
    """The connection broke or was never made; `sent` says whether the request may have arrived."""

    reason: str
    sent: bool


@dataclass(frozen=True, slots=True)
class Open:
    """Send a request and keep the answer open; `silence` is how long a read may take."""

    request: Request
    silence: float


@dataclass(frozen=True, slots=True)
class Read:
    """Read on from the answer opened last."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Do nothing for so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Give(Generic[T]):
    """Hand a value to the user."""

    value: T


Action: TypeAlias = Request | Open | Read | Wait | Give[Any]
Steps: TypeAlias = Generator[Action, Any, T]
