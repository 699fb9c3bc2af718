"""Geocast: publish/subscribe by place.

`match` matches a table of publications with a table of subscriptions; `Matcher` keeps the
subscriptions and is fed batch by batch; `geocast.spark.match` does the same on Spark DataFrames.
`Client` and `AsyncClient` talk to a running service.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from geocast.errors import (
    ConflictError,
    FilterLimitError,
    FilterSyntaxError,
    FilterTypeError,
    GeocastError,
    InputError,
    LanguageError,
    RejectedWarning,
    ServiceError,
    StateError,
    UnknownNameError,
)

if TYPE_CHECKING:
    from geocast.client import AsyncClient, Client
    from geocast.match.matcher import Matcher, match
    from geocast.model import Predicate, Reject, Rejects

__all__ = [
    "AsyncClient",
    "Client",
    "ConflictError",
    "FilterLimitError",
    "FilterSyntaxError",
    "FilterTypeError",
    "GeocastError",
    "InputError",
    "LanguageError",
    "Matcher",
    "Predicate",
    "Reject",
    "RejectedWarning",
    "Rejects",
    "ServiceError",
    "StateError",
    "UnknownNameError",
    "__version__",
    "match",
]

__version__ = "0.1.0"

_LAZY = {
    "AsyncClient": "geocast.client",
    "Client": "geocast.client",
    "Matcher": "geocast.match.matcher",
    "Predicate": "geocast.model",
    "Reject": "geocast.model",
    "Rejects": "geocast.model",
}


def __getattr__(name: str) -> Any:
    """Import what takes time to import only when it is asked for."""
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class _Geocast(ModuleType):
    """The module itself, on which `match` is the function although a package has that name."""

    @property
    def match(self) -> Callable[..., Any]:
        """Match publications with subscriptions; see `geocast.match.matcher.match`."""
        function: Callable[..., Any] = import_module("geocast.match.matcher").match
        return function

    @match.setter
    def match(self, package: ModuleType) -> None:
        """Keep the function where the import system sets the package of that name."""


sys.modules[__name__].__class__ = _Geocast
