"""Values that all rooms share: predicates, rejects, and the Arrow schemas of the tables."""

from geocast.model.predicate import Predicate
from geocast.model.reject import Reject, Rejects, Side
from geocast.model.schema import MATCHES, PAIRS, REJECTS, RESERVED_SUBSCRIPTION_COLUMNS

__all__ = [
    "MATCHES",
    "PAIRS",
    "REJECTS",
    "RESERVED_SUBSCRIPTION_COLUMNS",
    "Predicate",
    "Reject",
    "Rejects",
    "Side",
]
