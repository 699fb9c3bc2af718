"""The Python SDK: one core, a synchronous and an asynchronous client over it."""

from geocast.client.aio import AsyncClient, AsyncSubscription
from geocast.client.sync import Client, Subscription
from geocast.client.values import Account, Facts, Notification, Receipt

__all__ = [
    "Account",
    "AsyncClient",
    "AsyncSubscription",
    "Client",
    "Facts",
    "Notification",
    "Receipt",
    "Subscription",
]
