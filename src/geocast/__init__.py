"""Geocast: publish/subscribe by place.

`match` matches a table of publications with a table of subscriptions; `Matcher` keeps the
subscriptions and is fed batch by batch; `geocast.spark.match` does the same on Spark DataFrames.
"""

from geocast.errors import (
    FilterLimitError,
    FilterSyntaxError,
    FilterTypeError,
    GeocastError,
    InputError,
    LanguageError,
    RejectedWarning,
    UnknownNameError,
)
from geocast.match.matcher import Matcher, match
from geocast.model import Predicate, Reject, Rejects

__all__ = [
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
    "UnknownNameError",
    "__version__",
    "match",
]

__version__ = "0.1.0"
