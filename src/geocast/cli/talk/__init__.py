"""The commands that talk to a running service."""

from geocast.cli.talk.account import app as account_app
from geocast.cli.talk.link import link
from geocast.cli.talk.listen import listen
from geocast.cli.talk.publish import publish, unpublish
from geocast.cli.talk.status import status
from geocast.cli.talk.subscribe import subscribe, subscriptions, unsubscribe

__all__ = [
    "account_app",
    "link",
    "listen",
    "publish",
    "status",
    "subscribe",
    "subscriptions",
    "unpublish",
    "unsubscribe",
]
