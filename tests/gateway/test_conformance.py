"""The service does what its OpenAPI document says, whatever is sent to it."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    allow_header_conformance,
    content_type_conformance,
    ignored_auth,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from tests.gateway.served import Served

EXAMPLES = 15
PATIENCE = 60
"""Seconds that an answer may take: the first that needs kernels loads them."""
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
    ignored_auth,
    unsupported_method,
    allow_header_conformance,
]
OPERATIONS = [
    "DELETE /v1/accounts/{name}",
    "DELETE /v1/accounts/{name}/tokens/{number}",
    "DELETE /v1/publications/{id}",
    "DELETE /v1/subscriptions/{id}",
    "GET /healthz",
    "GET /metrics",
    "GET /readyz",
    "GET /v1/accounts",
    "GET /v1/accounts/{name}",
    "GET /v1/accounts/{name}/tokens",
    "GET /v1/attributes",
    "GET /v1/client",
    "GET /v1/dead-letters",
    "GET /v1/events",
    "GET /v1/me",
    "GET /v1/notifications",
    "GET /v1/notifications/counts",
    "GET /v1/status",
    "GET /v1/subscriptions",
    "GET /v1/subscriptions/{id}",
    "GET /v1/webhooks",
    "GET /v1/webhooks/parked",
    "POST /v1/accounts",
    "POST /v1/accounts/{name}/tokens",
    "POST /v1/links",
    "POST /v1/links/redeem",
    "POST /v1/notifications/ack",
    "POST /v1/publications",
    "POST /v1/subscriptions",
    "POST /v1/subscriptions/preview",
    "POST /v1/subscriptions/{id}/pause",
    "POST /v1/subscriptions/{id}/resume",
    "POST /v1/webhooks/{number}/resume",
    "PUT /v1/accounts/{name}",
    "PUT /v1/subscriptions/{id}",
]
"""All but the streams, which do not end."""

QUERIES = {
    "GET /v1/accounts",
    "GET /v1/dead-letters",
    "GET /v1/events",
    "GET /v1/notifications",
    "GET /v1/subscriptions",
}


@pytest.fixture(scope="module")
def account(gateway: Served) -> Served:
    return gateway.anew()


@pytest.fixture(scope="module")
def schema(account: Served) -> schemathesis.BaseSchema:
    found = schemathesis.openapi.from_url(f"{account.url}/openapi.json")
    found.config.generation.update(with_security_parameters=False)
    return found


def negated(name: str) -> bool:
    """Tell whether anything that is sent to an operation can be wrong."""
    return "{" in name or name.startswith("POST") or name in QUERIES


CASES = [(name, GenerationMode.POSITIVE) for name in OPERATIONS] + [
    (name, GenerationMode.NEGATIVE) for name in OPERATIONS if negated(name)
]


@pytest.mark.parametrize(("name", "mode"), CASES)
def test_as_documented(
    account: Served, schema: schemathesis.BaseSchema, name: str, mode: GenerationMode
) -> None:
    method, _, path = name.partition(" ")
    strategy = schema[path][method].as_strategy(generation_mode=mode)
    headers = {"Authorization": f"Bearer {account.token('alice')}"}

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=strategy)
    def check(case: schemathesis.Case[Any]) -> None:
        case.call_and_validate(headers=headers, checks=CHECKS, timeout=PATIENCE)

    check()


def test_every_operation_is_checked(nobody: httpx.Client) -> None:
    paths = nobody.get("/openapi.json").json()["paths"]
    found = {f"{method.upper()} {path}" for path, item in paths.items() for method in item}
    assert found == {*OPERATIONS, "GET /v1/stream", "GET /v1/events/stream"}
