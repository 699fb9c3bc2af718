"""What a session answers to each message."""

from __future__ import annotations

from typing import Any, Final

from geocast.gateway.auth import check_right
from geocast.gateway.features import ExactIds, Features, judge
from geocast.gateway.messages import (
    Ack,
    Connect,
    Message,
    Ping,
    Publish,
    Subscribe,
    Unpublish,
    Unsubscribe,
)
from geocast.gateway.notifications import acknowledge
from geocast.gateway.parts import Parts
from geocast.gateway.publishing import publish, withdraw
from geocast.gateway.subscribing import cancel, check_known, subscribe
from geocast.model import Account, Right

__all__ = ["answer"]

_RIGHTS: Final[dict[type, Right]] = {
    Connect: Right.SUBSCRIBE,
    Subscribe: Right.SUBSCRIBE,
    Unsubscribe: Right.SUBSCRIBE,
    Publish: Right.PUBLISH,
    Unpublish: Right.PUBLISH,
    Ack: Right.SUBSCRIBE,
}


async def answer(parts: Parts, account: Account, message: Message, text: bytes) -> dict[str, Any]:
    """Do what a message asks for, and return what there is to say; raises Problems.

    `text` is what the message was read from.
    """
    right = _RIGHTS.get(type(message))
    if right is not None:
        check_right(account, right)
    match message:
        case Ping():
            return {"type": "pong"}
        case Connect(after=after, subscription=subscription):
            if subscription is not None:
                await parts.ask(check_known, parts, account, subscription)
            return {"type": "connected", "account": account.name, "after": after or 0}
        case Subscribe(feature=feature):
            made = await parts.work(subscribe, parts, account, [feature], single=True)
            return {"type": "subscribed", "feature": made[0]}
        case Unsubscribe(id=name):
            await parts.ask(cancel, parts, account, name)
            return {"type": "unsubscribed", "id": name}
        case Publish(feature=feature):
            return await _publish(parts, account, feature, text)
        case Unpublish(id=name):
            done = await parts.ask(withdraw, parts, account, name)
            return {"type": "unpublished", "id": name, **done}
        case Ack(through=through, subscription=subscription):
            done = await parts.ask(acknowledge, parts, account, through, (), subscription)
            return {"type": "acknowledged", **done}


async def _publish(
    parts: Parts, account: Account, feature: dict[str, Any], text: bytes
) -> dict[str, Any]:
    features = Features(single=True)
    exact = ExactIds(text, lambda value, _: value["feature"])
    await parts.work(judge, features, 0, feature, exact)
    done = await publish(parts, account, features)
    return {"type": "published", "receipt": done["accepted"][0]}
