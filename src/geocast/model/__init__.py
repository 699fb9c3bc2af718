"""Values that all rooms share: predicates, rejects, accounts, notifications, Arrow schemas."""

from geocast.model.account import Account, Right
from geocast.model.identity import (
    ACCOUNT_NAME,
    MAX_ID,
    check_account_name,
    match_id,
    publication_key,
    split_key,
)
from geocast.model.match_record import MatchRecord
from geocast.model.notification import (
    Bundle,
    BundledMatch,
    Kind,
    Notification,
    bundle_event,
    cloud_event,
    event_id,
)
from geocast.model.predicate import Predicate
from geocast.model.reject import Reject, Rejects, Side
from geocast.model.schema import MATCHES, PAIRS, REJECTS, RESERVED_SUBSCRIPTION_COLUMNS
from geocast.model.times import MICROSECONDS, from_rfc3339, now, to_rfc3339

__all__ = [
    "ACCOUNT_NAME",
    "MATCHES",
    "MAX_ID",
    "MICROSECONDS",
    "PAIRS",
    "REJECTS",
    "RESERVED_SUBSCRIPTION_COLUMNS",
    "Account",
    "Bundle",
    "BundledMatch",
    "Kind",
    "MatchRecord",
    "Notification",
    "Predicate",
    "Reject",
    "Rejects",
    "Right",
    "Side",
    "bundle_event",
    "check_account_name",
    "cloud_event",
    "event_id",
    "from_rfc3339",
    "match_id",
    "now",
    "publication_key",
    "split_key",
    "to_rfc3339",
]
