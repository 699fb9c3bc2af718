"""What deploy/ says must be what the commands and settings are; CI cannot start any of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import yaml
from fastapi.routing import APIRoute
from typer.main import get_command
from typer.testing import CliRunner

from geocast.cli.app import app
from geocast.gateway import health
from geocast.operate import Settings

DEPLOY = Path(__file__).parents[2] / "deploy"
MANIFESTS = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
SCHEDULER = sorted((DEPLOY / "kubernetes-scheduler").glob("*.yaml"))
KNOWN = {f"GEOCAST_{field.name.upper()}" for field in fields(Settings)} | {"GEOCAST_HOME"}


def texts() -> Iterator[str]:
    for path in (DEPLOY / "Dockerfile", DEPLOY / "compose.yaml", *MANIFESTS, *SCHEDULER):
        yield path.read_text()


def documents(paths: list[Path] = MANIFESTS) -> Iterator[dict[str, Any]]:
    for path in paths:
        found = yaml.safe_load_all(path.read_text())
        yield from (one for one in found if one and "kind" in one)


def of_kind(*kinds: str) -> list[dict[str, Any]]:
    return [one for one in documents() if one["kind"] in kinds]


def sets_of_pods(paths: list[Path] = MANIFESTS) -> list[dict[str, Any]]:
    return [one for one in documents(paths) if "template" in one.get("spec", {})]


def services_of_compose() -> dict[str, dict[str, Any]]:
    services: dict[str, dict[str, Any]] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())[
        "services"
    ]
    return services


def commands() -> list[list[str]]:
    """All that these files start of Geocast."""
    found = [service.get("command", []) for service in services_of_compose().values()]
    pods = [one["spec"]["template"]["spec"] for one in sets_of_pods([*MANIFESTS, *SCHEDULER])]
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
    assert starts.count("run") == 3  # one in compose, one in Kubernetes, one with its scheduler
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
    documented = (DEPLOY.parent / "docs" / "cluster.md").read_text()
    assert "kubectl -n geocast create secret generic geocast" in documented
    # What is created by a command is told from what was applied, with a warning.
    assert "kubectl create namespace" not in documented


def test_every_broker_is_asked_for_by_its_name() -> None:
    services = services_of_compose()
    brokers = {name for name in services if name.startswith("broker-")}
    url = services["gateway-1"]["environment"]["GEOCAST_LOG"]
    assert {part.partition(":")[0] for part in url.removeprefix("kafka://").split(",")} == brokers


def test_no_image_is_asked_for_at_every_start() -> None:
    listed = yaml.safe_load((DEPLOY / "kubernetes" / "kustomization.yaml").read_text())["images"]
    tagged = {image["name"]: image["newTag"] for image in listed}
    for one in sets_of_pods():
        for container in one["spec"]["template"]["spec"]["containers"]:
            name, _, tag = container["image"].partition(":")
            assert (tag or tagged[name]) != "latest"
    for service in services_of_compose().values():
        wanted = "build" if "build" in service else "never"
        assert service["image"] != "geocast" or service["pull_policy"] == wanted


def test_every_service_finds_pods_and_every_pod_its_volumes() -> None:
    labels = [one["spec"]["template"]["metadata"]["labels"] for one in sets_of_pods()]
    services = {one["metadata"]["name"]: one["spec"] for one in of_kind("Service")}
    assert all(one["selector"] in labels for one in services.values())
    for one in sets_of_pods():
        assert (
            one["spec"]["selector"]["matchLabels"] == one["spec"]["template"]["metadata"]["labels"]
        )
        assert one["kind"] != "StatefulSet" or one["spec"]["serviceName"] in services
        pod = one["spec"]["template"]["spec"]
        claimed = [
            claim["metadata"]["name"] for claim in one["spec"].get("volumeClaimTemplates", [])
        ]
        there = {*claimed, *(volume["name"] for volume in pod.get("volumes", []))}
        for container in pod["containers"]:
            assert {mount["name"] for mount in container.get("volumeMounts", [])} == there
    hosts = re.findall(r"(?:://|@|[,=])([a-z][a-z0-9-]*(?:\.[a-z]+)?):\d+", "".join(texts()))
    hosts = [host for host in hosts if host not in services_of_compose()]
    assert {host.rpartition(".")[2] for host in hosts} <= services.keys()


def test_probes_ask_what_the_gateway_answers() -> None:
    paths = set(re.findall(r"path: (/\w+), port: 8400", "".join(texts())))
    assert paths
    assert paths <= {route.path for route in health.router.routes if isinstance(route, APIRoute)}


def test_a_master_that_is_started_again_remembers_its_workers_and_the_driver() -> None:
    master = services_of_compose()["spark-master"]
    assert "recoveryDirectory=/data/" in master["environment"]["SPARK_MASTER_OPTS"]
    assert master["volumes"] == ["spark-master:/data"]
    (placed,) = (one for one in of_kind("StatefulSet") if one["metadata"]["name"] == "spark-master")
    assert "recoveryDirectory=/data/" in str(placed["spec"]["template"])
    assert placed["spec"]["volumeClaimTemplates"]
    # It has another address when it was moved.
    (worker,) = (one for one in of_kind("Deployment") if one["metadata"]["name"] == "spark-worker")
    assert "spark.worker.preferConfiguredMasterAddress=true" in str(worker)


def test_postgresql_counts_as_ready_when_others_reach_it() -> None:
    # While its image makes the database, a server answers on the socket that is stopped again.
    asks = re.findall(r"pg_isready.*", "".join(texts()))
    assert len(asks) == 2
    assert all("--host" in ask for ask in asks)


def test_kernels_are_compiled_by_the_user_who_will_use_them() -> None:
    steps = (DEPLOY / "Dockerfile").read_text()
    assert steps.index("USER geocast") < steps.index("geocast.match.warm")


def test_kubernetes_scheduler_starts_what_the_image_has() -> None:
    steps = (DEPLOY / "Dockerfile").read_text()
    assert "deploy/spark-on-kubernetes.sh /usr/local/bin/driver" in steps
    submitted = re.findall(r"local://(/\S+)", (DEPLOY.parent / "docs" / "cluster.md").read_text())
    assert [path in steps for path in submitted] == [True]
    (listed,) = (path for path in SCHEDULER if path.name == "kustomization.yaml")
    removed = re.findall(r"delete, .*kind: (\w+), metadata: \{name: (\S+?)\}", listed.read_text())
    # Executors get the address that the driver binds to.
    assert "spark.driver.bindAddress=$(POD_IP)" in "".join(path.read_text() for path in SCHEDULER)
    assert removed
    assert set(removed) < {(one["kind"], one["metadata"]["name"]) for one in documents()}
