"""The session: one WebSocket on which a client publishes, subscribes and is notified.

Messages are JSON objects with a `type`. Each message of the client is answered by one message,
which repeats its `ref`; a message that cannot be used is answered by a `problem`, and the session
goes on. Once the client has sent `connect`, notifications come as `notify` in between.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import aclosing, suppress
from typing import Any, Final

import orjson
from fastapi import APIRouter, WebSocket
from starlette.websockets import WebSocketDisconnect, WebSocketState

from geocast.files.feature import BadRecordError, load_json
from geocast.gateway.auth import token_of
from geocast.gateway.messages import Connect, read_message, ref_of
from geocast.gateway.parts import Parts, parts_of
from geocast.gateway.problems import Problem, document, problem_of
from geocast.gateway.talk import answer
from geocast.gateway.watch import counted_session, watch
from geocast.model import Account, Notification, cloud_event

__all__ = ["router"]

router: Final = APIRouter()

_journal = logging.getLogger(__name__)
_GOING_AWAY: Final = 1001
_NOT_ALLOWED: Final = 1008
_TOO_LARGE: Final = 1009
_FAILED: Final = 1011


@router.websocket("/v1/session")
async def session(socket: WebSocket) -> None:
    """Serve a session to whoever has a token."""
    parts = parts_of(socket)
    token = token_of(socket)
    account = await parts.doorkeeper.account(token)
    parts.rates.request(account)
    await socket.accept()
    with counted_session("websocket"), suppress(WebSocketDisconnect):
        await _Session(parts, token, socket).run()


class _Session:
    """One open session."""

    def __init__(self, parts: Parts, token: str | None, socket: WebSocket) -> None:
        self._parts = parts
        self._token = token
        self._socket = socket
        self._sending = asyncio.Lock()
        self._notifier: asyncio.Task[None] | None = None

    async def run(self) -> None:
        """Answer messages until either side closes."""
        try:
            while (text := await self._receive()) is not None:
                await self._answer(text)
        finally:
            if self._notifier is not None:
                self._notifier.cancel()
                await asyncio.wait([self._notifier])

    async def _receive(self) -> bytes | None:
        """Return the next message; None at the end."""
        event = await self._socket.receive()
        if event["type"] != "websocket.receive":
            return None
        text = event.get("text")
        data = event.get("bytes") or b"" if text is None else text.encode("utf-8", "surrogatepass")
        if len(data) > self._parts.settings.max_body:
            await self._close(_TOO_LARGE)
            return None
        return data

    async def _answer(self, text: bytes) -> None:
        value: Any = None
        try:
            value = load_json(text)
            account = await self._caller()
            message = read_message(value)
            if isinstance(message, Connect) and self._is_connected():
                raise Problem(409, "notifications are being sent already")
            found = await answer(self._parts, account, message, text)
        except Exception as error:
            problem = _problem(error)
            told = {"type": "problem", "problem": document(problem), "ref": ref_of(value)}
            await self._send(told)
            if problem.status_code == 401:
                await self._close(_NOT_ALLOWED)
            return
        await self._send({**found, "ref": message.ref})
        if isinstance(message, Connect):
            self._notifier = asyncio.create_task(self._notify(account, message))

    async def _caller(self) -> Account:
        account = await self._parts.doorkeeper.account(self._token)
        self._parts.rates.request(account)
        return account

    def _is_connected(self) -> bool:
        return self._notifier is not None and not self._notifier.done()

    async def _notify(self, account: Account, message: Connect) -> None:
        found = watch(
            self._parts,
            account,
            self._token,
            channel="websocket",
            after=message.after or 0,
            subscription=message.subscription,
        )
        try:
            async with aclosing(found) as batches:
                async for batch in batches:
                    await self._tell(batch)
            await self._close(_GOING_AWAY)
        except Problem:
            await self._close(_NOT_ALLOWED)
        except WebSocketDisconnect:
            _journal.debug("a session ended while it was notified")
        except Exception:
            _journal.exception("a session can no longer be notified")
            await self._close(_FAILED)

    async def _tell(self, batch: list[Notification]) -> None:
        if batch:
            events = [orjson.Fragment(cloud_event(each)) for each in batch]
            cursor = batch[-1].cursor
            await self._send({"type": "notify", "cursor": cursor, "notifications": events})

    async def _send(self, message: dict[str, Any]) -> None:
        async with self._sending:
            if self._socket.application_state is WebSocketState.CONNECTED:
                await self._socket.send_text(orjson.dumps(message).decode())

    async def _close(self, code: int) -> None:
        async with self._sending:
            if self._socket.application_state is WebSocketState.CONNECTED:
                with suppress(WebSocketDisconnect):
                    await self._socket.close(code)


def _problem(error: Exception) -> Problem:
    if isinstance(error, BadRecordError):
        return Problem(400, f"the message cannot be read: {error.reason}")
    problem = problem_of(error)
    if problem is None:
        _journal.error("a session's message failed", exc_info=error)
        return Problem(500, "the service failed; its journal tells more")
    return problem
