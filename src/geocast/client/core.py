"""What both clients share: who is asked, how often, and what an answer means."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final
from urllib.parse import quote, urlsplit

import orjson

from geocast.client.wire import Answer, Failure, Give, Open, Request, Steps, Wait
from geocast.errors import ConflictError, InputError, ServiceError

__all__ = ["Core", "TakenError", "UnreachableError", "backoff", "retry_after", "segment"]

_BUSY: Final = frozenset({408, 429, 502, 503, 504})
_UNTOUCHED: Final = frozenset({429, 503})
_FIRST_WAIT: Final = 0.2
_LONGEST_WAIT: Final = 10.0
_LONGEST_RETRY_AFTER: Final = 60.0


class TakenError(ServiceError, ConflictError):
    """The service refused an id or a name because it is taken already."""


class UnreachableError(ServiceError):
    """No answer came, for a `reason`; `sent` says whether the request may have arrived.

    Where there are several addresses, `url` lists them all.
    """

    def __init__(self, url: str, failure: Failure) -> None:
        super().__init__(f"{url} cannot be reached: {failure.reason}")
        self.url, self.reason, self.sent = url, failure.reason, failure.sent


class Core:
    """The addresses of a service, the token for it, whom to trust, how patient to be with it.

    Several addresses are those of gateways of one service: one of them is asked, and the next
    where it fails. Raises InputError for an address or a token that cannot be one.
    """

    def __init__(
        self, url: str | Sequence[str], token: str | None, retries: int, ca: str | None = None
    ) -> None:
        given = url.split(",") if isinstance(url, str) else url
        self.urls = [_checked_url(one.strip()) for one in given]
        if not self.urls:
            raise InputError("no address of a service")
        self.token = _checked_token(token or os.environ.get("GEOCAST_TOKEN") or None)
        self.ca = ca or os.environ.get("GEOCAST_CA") or None
        self.retries = retries
        self._current = 0

    @property
    def url(self) -> str:
        """The address that is asked now."""
        return self.urls[self._current]

    def avoid(self, url: str) -> None:
        """Ask the next address from now on, if what failed was the one that is asked now."""
        if _origin(url) == _origin(self.url):
            self._current = (self._current + 1) % len(self.urls)

    @property
    def headers(self) -> dict[str, str]:
        """What goes with every request."""
        headers = {"accept": "application/json, application/problem+json"}
        return (
            headers if self.token is None else headers | {"authorization": f"Bearer {self.token}"}
        )

    @property
    def is_local(self) -> bool:
        """Whether the service is on this machine, so that no proxy stands between."""
        hosts = [urlsplit(url).hostname or "" for url in self.urls]
        return all(host in ("localhost", "::1") or host.startswith("127.") for host in hosts)

    def ask(self, request: Request, *expected: int) -> Steps[Answer]:
        """Send until there is an answer with one of the expected statuses.

        Broken connections and busy services are tried again, as often as `retries` allows.
        Raises ServiceError where there is no answer, or another one.
        """
        answer, _ = yield from self.ask_often(request)
        if answer.status not in expected:
            raise self.refusal(request, answer)
        return answer

    def ask_often(self, action: Request | Open) -> Steps[tuple[Answer, bool]]:
        """Like `ask`, but return any answer, and whether an earlier attempt may have arrived."""
        request = action.request if isinstance(action, Open) else action
        doubtful = False
        for attempt in range(self.retries + 1):
            outcome: Answer | Failure = yield action
            wait = self._wait(request, outcome, attempt)
            if wait is None or attempt == self.retries:
                break
            doubtful = doubtful or _may_have_arrived(outcome)
            yield Wait(wait)
        if isinstance(outcome, Failure):
            raise self.unreachable(outcome)
        return outcome, doubtful

    def _wait(self, request: Request, outcome: Answer | Failure, attempt: int) -> float | None:
        """Return how long to wait before the next attempt; None where none makes sense."""
        if isinstance(outcome, Failure):
            again = request.repeatable or not outcome.sent
            return backoff(attempt) if again else None
        if outcome.status not in (_BUSY if request.repeatable else _UNTOUCHED):
            return None
        return retry_after(outcome) or backoff(attempt)

    def pages(
        self,
        path: str,
        query: Mapping[str, str | int],
        member: str,
        read: Callable[[dict[str, Any]], object],
    ) -> Steps[None]:
        """Give what `read` makes of each entry of `member`, page by page to the last."""
        asked = dict(query)
        while True:
            answer = yield from self.ask(Request("GET", path, asked), 200)
            with self.reading(f"the {member}"):
                found = orjson.loads(answer.body)
                entries = [read(entry) for entry in found[member]]
            for entry in entries:
                yield Give(entry)
            if found.get("next") is None:
                return
            asked["cursor"] = found["next"]

    def unreachable(self, failure: Failure) -> UnreachableError:
        """Return the error for a service that gave no answer."""
        return UnreachableError(", ".join(self.urls), failure)

    def refusal(self, request: Request, answer: Answer) -> ServiceError:
        """Return the error for an answer that is not what was asked for."""
        problem = _problem(answer)
        detail = problem.get("detail") or problem.get("title") or "an unexpected answer"
        where = f"{request.method} {self.url}{request.path}"
        message = f"{where}: {detail}{_first_reason(problem)} (status {answer.status})"
        kind = TakenError if answer.status == 409 else ServiceError
        return kind(message, status=answer.status, problem=problem)

    @contextmanager
    def reading(self, what: str) -> Iterator[None]:
        """Turn an answer of another shape than expected into a ServiceError."""
        try:
            yield
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ServiceError(
                f"{self.url}: {what} not understood: {type(error).__name__}: {error}"
            ) from error


_chance: Final = random.Random()


def backoff(attempt: int) -> float:
    """Return the seconds before the next attempt: doubling, with chance, and bounded."""
    longest = min(_LONGEST_WAIT, _FIRST_WAIT * 2.0 ** min(attempt, 30))
    return longest * _chance.uniform(0.5, 1.0)


def segment(identifier: str | int) -> str:
    """Return an id as one segment of a path; raises InputError for an empty one."""
    text = str(identifier)
    if not text:
        raise InputError("an empty id")
    return quote(text, safe="").replace(".", "%2E")


def _may_have_arrived(outcome: Answer | Failure) -> bool:
    return outcome.sent if isinstance(outcome, Failure) else outcome.status not in _UNTOUCHED


def retry_after(answer: Answer) -> float | None:
    """Return the seconds that a busy service asks to be left alone; None where it does not."""
    text = answer.headers.get("retry-after", "").strip()
    if not text:
        return None
    try:
        seconds = float(text) if text.isdigit() else _seconds_until(text)
    except ValueError:
        return None
    return min(max(seconds, 0.05), _LONGEST_RETRY_AFTER)


def _seconds_until(date: str) -> float:
    moment = parsedate_to_datetime(date)
    return (moment.astimezone(UTC) - datetime.now(UTC)).total_seconds()


def _problem(answer: Answer) -> dict[str, Any]:
    try:
        found = orjson.loads(answer.body)
    except orjson.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}


def _first_reason(problem: Mapping[str, Any]) -> str:
    errors = problem.get("errors")
    first = errors[0] if isinstance(errors, list) and errors else None
    reason = first.get("reason") if isinstance(first, Mapping) else None
    return f": {reason}" if reason and reason not in str(problem.get("detail")) else ""


def _checked_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        fine = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        fine = False
    if not fine or parts.query or parts.fragment:
        raise InputError(f"{url!r} is not the address of a service, such as http://127.0.0.1:8400")
    return url.rstrip("/")


def _origin(url: str) -> tuple[str, str | None, int]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)


def _checked_token(token: str | None) -> str | None:
    if token is not None and not (token.isascii() and token.isprintable() and " " not in token):
        raise InputError("the token has characters that no token has")
    return token
