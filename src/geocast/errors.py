"""Everything that Geocast raises on purpose.

    GeocastError
    ├── InputError           an input as a whole cannot be used: a file, a table, an option
    │   └── UnknownNameError   a name that is none of a fixed set of choices
    ├── ConflictError        an id is taken already
    ├── StateError           stored data is not what it should be: damaged, or of another version
    │   └── UnavailableError   a database cannot be reached for now; the same may work later
    ├── ServiceError         a service could not be reached or refused what a client asked
    └── LanguageError        a CQL2 expression is refused; says where and why
        ├── FilterSyntaxError    it is not CQL2
        ├── FilterTypeError      it is CQL2, but compares what cannot be compared
        └── FilterLimitError     it is understood, but too large

A single bad record is not an error: it becomes a `geocast.model.Reject` with its reason,
and the records around it are processed. `RejectedWarning` says so where nobody asked for
the rejects.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__ = [
    "ConflictError",
    "FilterLimitError",
    "FilterSyntaxError",
    "FilterTypeError",
    "GeocastError",
    "InputError",
    "LanguageError",
    "RejectedWarning",
    "ServiceError",
    "StateError",
    "UnavailableError",
    "UnknownNameError",
]


class GeocastError(Exception):
    """The root of all errors that Geocast raises on purpose."""


class InputError(GeocastError):
    """An input as a whole cannot be used; the message says what and where."""


class UnknownNameError(InputError):
    """A name that is none of a fixed set of choices; the message lists them."""

    def __init__(self, what: str, name: str, choices: Iterable[str]) -> None:
        super().__init__(f"unknown {what} {name!r}; there are: {', '.join(choices)}")


class ConflictError(GeocastError):
    """An id is taken already; the message says which."""


class StateError(GeocastError):
    """Stored data is damaged, of another version, or in use by another process."""


class UnavailableError(StateError):
    """A database cannot be reached, or gave up on a transaction; the same may work later.

    `undone` says that nothing of the transaction counts; else that is not known, since the
    answer to its end was lost. `conflict` says that it only got in the way of another one.
    """

    def __init__(self, message: str, *, undone: bool, conflict: bool = False) -> None:
        self.undone = undone
        self.conflict = conflict
        super().__init__(message)


class ServiceError(GeocastError):
    """A service could not be reached, or refused what a client asked.

    `status` is the HTTP status, None where there was no answer; `problem` is the RFC 9457
    document that came with it, or an empty one.
    """

    def __init__(
        self, message: str, *, status: int | None = None, problem: dict[str, Any] | None = None
    ) -> None:
        self.status = status
        self.problem = problem or {}
        super().__init__(message)


class LanguageError(GeocastError):
    """A CQL2 expression is refused.

    `reason` says why; `position` is the 0-based offset into the text at which the trouble
    begins, or None where the expression came as JSON; `path` is then the JSON path.
    """

    def __init__(
        self, reason: str, *, position: int | None = None, path: str | None = None
    ) -> None:
        self.reason = reason
        self.position = position
        self.path = path
        where = f" at position {position}" if position is not None else ""
        where = f" at {path}" if path is not None else where
        super().__init__(f"filter refused{where}: {reason}")


class FilterSyntaxError(LanguageError):
    """The text or JSON is not CQL2, or uses a function that does not exist."""


class FilterTypeError(LanguageError):
    """The expression compares or combines values that cannot be compared or combined."""


class FilterLimitError(LanguageError):
    """The expression is understood but too deep, or too large once normalised."""


class RejectedWarning(UserWarning):
    """Some records were rejected and nobody asked to be told which."""
