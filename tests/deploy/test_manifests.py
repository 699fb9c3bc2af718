"""What deploy/ says must be what the commands and settings are; CI cannot start any of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command
from typer.testing import CliRunner

from geocast.cli.app import app
from geocast.operate import Settings

DEPLOY = Path(__file__).parents[2] / "deploy"
MANIFESTS = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
KNOWN = {f"GEOCAST_{field.name.upper()}" for field in fields(Settings)} | {"GEOCAST_HOME"}


def texts() -> Iterator[str]:
    for path in (DEPLOY / "Dockerfile", DEPLOY / "compose.yaml", *MANIFESTS):
        yield path.read_text()


def documents() -> Iterator[dict[str, Any]]:
    for path in MANIFESTS:
        found = yaml.safe_load_all(path.read_text())
        yield from (one for one in found if one and "kind" in one)


def commands() -> list[list[str]]:
    """All that these files start of Geocast."""
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    found = [service.get("command", []) for service in compose["services"].values()]
    pods = [
        one["spec"]["template"]["spec"] for one in documents() if "template" in one.get("spec", {})
    ]
    found += [container.get("args", []) for pod in pods for container in pod["containers"]]
    return [command for command in found if command[:1] == ["geocast"]]


def test_only_settings_that_exist_are_set() -> None:
    used = {name for text in texts() for name in re.findall(r"GEOCAST_[A-Z_]+", text)}
    assert used
    assert used <= KNOWN


@pytest.mark.parametrize("command", commands(), ids=" ".join)
def test_only_commands_and_options_that_exist_are_used(command: list[str]) -> None:
    known = get_command(app).commands[command[1]]  # type: ignore[attr-defined]
    options = {name for parameter in known.params for name in parameter.opts}
    assert {word.partition("=")[0] for word in command[2:]} <= options
    assert CliRunner().invoke(app, [command[1], "--help"]).exit_code == 0


def test_there_are_two_of_what_may_be_several_and_one_driver() -> None:
    starts = [command[1] for command in commands()]
    assert starts.count("run") == 2  # one in compose, one in Kubernetes
    replicas = {
        one["metadata"]["name"]: one["spec"].get("replicas", 1)
        for one in documents()
        if one["kind"] in ("Deployment", "StatefulSet")
    }
    assert replicas["gateway"] == replicas["deliver"] == replicas["spark-worker"] == 2
    assert replicas["pipeline"] == replicas["postgres"] == 1
    assert replicas["kafka"] == 3


def test_every_manifest_is_applied_and_every_mounted_secret_is_the_documented_one() -> None:
    listed = yaml.safe_load((DEPLOY / "kubernetes" / "kustomization.yaml").read_text())["resources"]
    assert sorted([*listed, "kustomization.yaml"]) == [path.name for path in MANIFESTS]
    secrets = set(re.findall(r"secretName: (\S+?)\}", "".join(texts())))
    assert secrets == {"geocast"}
    assert (
        "kubectl -n geocast create secret generic geocast"
        in (DEPLOY.parent / "docs" / "cluster.md").read_text()
    )


def test_every_broker_is_asked_for_by_its_name() -> None:
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    brokers = {name for name in compose["services"] if name.startswith("broker-")}
    url = compose["services"]["gateway-1"]["environment"]["GEOCAST_LOG"]
    assert {part.partition(":")[0] for part in url.removeprefix("kafka://").split(",")} == brokers
