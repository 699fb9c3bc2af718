"""The webhooks of an account, as its subscriptions name them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from geocast.deliver.signing import new_secret
from geocast.gateway.wishes import Hook, Wish
from geocast.model import Account
from geocast.repository import TOPIC_SCHEME, Endpoint, Repository, Wanted

__all__ = ["Hooks"]


class Hooks:
    """The webhooks of one account during one request; read when the first is needed."""

    def __init__(self, repository: Repository, account: Account, topic: str | None = None) -> None:
        self._repository = repository
        self._topic = topic
        self._account = account.number
        self._by_number: dict[int, Endpoint] = {}
        self._by_url: dict[str, Endpoint] = {}
        self._told: dict[int, str] = {}
        self._read = False

    def attach(self, wish: Wish) -> Wanted:
        """Return what is wanted, with the number of its webhook, which is put down if it is new."""
        if wish.topic:
            return replace(wish.wanted, endpoint=self._topic_endpoint().number)
        if wish.hook is None:
            return wish.wanted
        return replace(wish.wanted, endpoint=self._endpoint(wish.hook).number)

    def document(self, number: int | None) -> dict[str, Any] | None:
        """Return a webhook as Features name it; a secret that was just made is told in it."""
        self._load()
        found = None if number is None else self._by_number.get(number)
        if found is None:
            return None
        told = {"secret": self._told[found.number]} if found.number in self._told else {}
        return {"url": found.url, "number": found.number, "state": found.state, **told}

    def properties(self, number: int | None) -> dict[str, Any]:
        """Return the property of a Feature that says where its notifications go, if anywhere."""
        self._load()
        found = None if number is None else self._by_number.get(number)
        if found is not None and found.topic:
            return {"topic": found.topic}
        told = self.document(number)
        return {} if told is None else {"webhook": told}

    def _topic_endpoint(self) -> Endpoint:
        self._load()
        url = f"{TOPIC_SCHEME}{self._topic}"
        if url not in self._by_url:
            self._note(self._repository.endpoints.put(self._account, url, ""))
        return self._by_url[url]

    def _endpoint(self, hook: Hook) -> Endpoint:
        self._load()
        known = self._by_url.get(hook.url)
        if known is not None and hook.secret in (None, known.secret):
            return known
        secret = hook.secret or new_secret()
        found = self._repository.endpoints.put(self._account, hook.url, secret)
        self._note(found)
        if hook.secret is None:
            self._told[found.number] = secret
        return found

    def _load(self) -> None:
        if not self._read:
            self._read = True
            for endpoint in self._repository.endpoints.page(self._account):
                self._note(endpoint)

    def _note(self, endpoint: Endpoint) -> None:
        self._by_number[endpoint.number] = endpoint
        self._by_url[endpoint.url] = endpoint
