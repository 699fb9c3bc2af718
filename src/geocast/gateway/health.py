"""Routes that tell how the service fares: alive, ready, numbers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any, Final

from fastapi import APIRouter, Request
from starlette.responses import Response

from geocast.gateway.admin_schemas import Status
from geocast.gateway.answers import Json
from geocast.gateway.callers import Admin
from geocast.gateway.documents import problems
from geocast.gateway.parts import Parts, parts_of
from geocast.gateway.problems import Problem
from geocast.gateway.schemas import Alive, Ready
from geocast.model import MICROSECONDS, to_rfc3339
from geocast.operate import render
from geocast.repository import Pinned

__all__ = ["router"]

router: Final = APIRouter(tags=["operation"])

_journal = logging.getLogger(__name__)
_QUERY: Final = "match"
_LAST_BATCHES: Final = 10
_ANSWER_SECONDS: Final = 5.0


@router.get("/healthz", response_model=Alive)
async def get_health() -> Any:
    """Tell that this process is alive."""
    return {"status": "alive"}


@router.get("/readyz", response_model=Ready, responses=problems(503))
async def get_readiness(request: Request) -> Any:
    """Tell whether the service can be used: repository, log and pipeline answer."""
    parts = parts_of(request)
    faults = [
        {"where": name, "reason": reason}
        for name, check in _checks(parts).items()
        if (reason := await _fault(parts, check))
    ]
    if faults:
        first = f"{faults[0]['where']}: {faults[0]['reason']}"
        raise Problem(503, first, errors=faults, headers={"Retry-After": "1"})
    return {"status": "ready"}


def _checks(parts: Parts) -> dict[str, Callable[[], Any]]:
    def pipeline() -> None:
        if not parts.pipeline_ready():
            raise Problem(503, "is not running (it is starting, or being started again)")

    return {
        "repository": parts.repository.mailbox.latest,
        "log": parts.log.ends,
        "pipeline": pipeline,
    }


async def _fault(parts: Parts, check: Callable[[], Any]) -> str:
    try:
        await asyncio.wait_for(parts.ask(check), _ANSWER_SECONDS)
    except Problem as problem:
        return problem.detail
    except TimeoutError:
        return f"gave no answer within {_ANSWER_SECONDS:g} s"
    except Exception as error:
        _journal.warning("not ready", exc_info=error)
        return f"failed: {type(error).__name__}"
    return ""


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
async def get_metrics(request: Request) -> Response:
    """Return what all processes count, for Prometheus."""
    text = await parts_of(request).work(render)
    return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")


@router.get("/v1/status", response_model=Status, responses=problems(401, 403, 429))
async def get_status(request: Request, account: Admin) -> Response:
    """Return the numbers of everything, and the last batches of the pipeline."""
    parts = parts_of(request)
    return Json(await parts.look(_status, parts))


def _status(parts: Parts) -> dict[str, Any]:
    repository, log = parts.repository, parts.log
    snapshot, through = repository.subscriptions.snapshot_at()
    webhooks = [endpoint.state for endpoint in repository.endpoints.page()]
    ends = log.ends()
    batches = _batches(parts)
    return {
        "deployment": repository.deployment,
        "ready": parts.pipeline_ready(),
        "subscriptions": repository.subscriptions.count(),
        "snapshot": {"version": snapshot, "through": through},
        "log": {
            "name": log.name,
            "partitions": [
                {"start": start, "end": end} for start, end in zip(log.starts(), ends, strict=True)
            ],
        },
        "publications": sum(ends),
        **parts.pace.read(),
        "batches": batches,
        "batch_seconds": next((b["seconds"] for b in batches if b["seconds"] is not None), None),
        "mailbox": {"waiting": repository.mailbox.depth(), "latest": repository.mailbox.latest()},
        "dead_letters": repository.dead_letters.count(),
        "webhooks": {"active": webhooks.count("active"), "parked": webhooks.count("parked")},
        "streams": parts.feed.sessions,
        "event_streams": parts.events.listeners,
    }


def _batches(parts: Parts) -> list[dict[str, Any]]:
    found = parts.repository.ledger.entries(_QUERY, limit=_LAST_BATCHES, newest=True)
    return [
        {
            "batch": each.batch,
            "snapshot": each.snapshot,
            "pinned": to_rfc3339(each.pinned_at),
            "finished": None if each.finished_at is None else to_rfc3339(each.finished_at),
            "seconds": _seconds(each),
            "ranges": {str(partition): list(range_) for partition, range_ in each.ranges.items()},
            "counts": each.counts,
        }
        for each in found
    ]


def _seconds(batch: Pinned) -> float | None:
    """Return how long a batch took, from when its snapshot was chosen."""
    if batch.finished_at is None:
        return None
    return (batch.finished_at - batch.pinned_at) / MICROSECONDS
