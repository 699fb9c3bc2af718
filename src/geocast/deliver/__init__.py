"""Matches out: into mailboxes, to those who are connected, to webhooks."""

from geocast.deliver.address import check_url
from geocast.deliver.live import LiveFeed
from geocast.deliver.mail import Mailman
from geocast.deliver.service import run_deliver
from geocast.deliver.signing import new_secret, signing_key
from geocast.deliver.webhooks import Webhooks

__all__ = [
    "LiveFeed",
    "Mailman",
    "Webhooks",
    "check_url",
    "new_secret",
    "run_deliver",
    "signing_key",
]
