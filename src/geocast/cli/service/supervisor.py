"""`geocast up`: starts the processes of a service, keeps them running, stops them in order."""

from __future__ import annotations

import os
import shlex
import shutil
import socket
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Final

import httpx
from rich.console import Console

from geocast.cli.progress import Steps, open_steps
from geocast.cli.service.child import Child
from geocast.cli.service.first_token import ADMIN, ensure_admin
from geocast.cli.talk.connect import DEFAULT_URL, is_local
from geocast.errors import GeocastError, InputError
from geocast.log import kafka_options
from geocast.operate import Place, Settings, hold_lock, stop_on_signals
from geocast.pipeline.variants import check_name
from geocast.repository import Repository

__all__ = ["run_up"]

_READY_SECONDS: Final = 120.0
_POLL_SECONDS: Final = 0.2
_DEFAULT_DATA: Final = "geocast-data"
_LINK_SECONDS: Final = 600


def run_up(place: Place, settings: Settings, master: str) -> None:
    """Run the service until it is told to stop; raises GeocastError where it cannot run on."""
    check_name(settings.algorithm)
    _check_log(settings)
    _ = settings.certificate
    _check_address(settings.host, settings.port)
    _check_directory(place.root)
    stop = stop_on_signals()
    with hold_lock(place.lock, f"the data directory {place.root}"):
        started = time.monotonic()
        shutil.rmtree(place.metrics, ignore_errors=True)
        children = _children(place, settings, master)
        try:
            with open_steps() as steps:
                _start(place, settings, children, steps)
            _say_how(place, settings, time.monotonic() - started, _link(place))
            while not stop.wait(_POLL_SECONDS):
                for child in children:
                    child.revive()
                    child.trim_journal()
        finally:
            print("stopping: what was published is matched and delivered first", file=sys.stderr)
            _stop(children)
            print("stopped", file=sys.stderr)


def _check_address(host: str, port: int) -> None:
    """Raise InputError where nobody can listen there, or somebody does already."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot listen on {host} port {port}: {reason}") from None


def _check_log(settings: Settings) -> None:
    """Raise InputError where the settings name a Kafka that cannot be one."""
    if settings.log:
        kafka_options(settings)


def _check_directory(directory: Path) -> None:
    """Raise InputError where there is no such directory and none can be made."""
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot keep data in {directory}: {error.strerror}") from None


def _children(place: Place, settings: Settings, master: str) -> list[Child]:
    """Return the processes in the order in which they have to stop."""
    geocast = [sys.executable, "-m", "geocast"]
    data = ["--data", str(place.root)]
    address = ["--host", settings.host, "--port", str(settings.port)]
    algorithm = ["--algorithm", settings.algorithm]
    commands = {
        "gateway": [*geocast, "gateway", *data, *address],
        "pipeline": [*geocast, "run", *data, "--master", master, *algorithm],
        "deliver": [*geocast, "deliver", *data],
    }
    database = {"GEOCAST_REPOSITORY": settings.repository} if settings.repository else {}
    if settings.log:
        database["GEOCAST_LOG"] = settings.log
    return [Child(name, command, place.journal, database) for name, command in commands.items()]


def _start(place: Place, settings: Settings, children: list[Child], steps: Steps) -> None:
    with steps.step("opening the data directory"):
        ensure_admin(place, everywhere=True)
    for child in children:
        child.start()
    # The certificate need not have a name of this machine's own; nothing secret is sent.
    with httpx.Client(base_url=_url(settings), timeout=5, trust_env=False, verify=False) as http:
        with steps.step("starting the gateway"):
            _wait(children, http, "/healthz")
        with steps.step("starting Spark"):
            _wait(children, http, "/readyz")


def _wait(children: list[Child], http: httpx.Client, path: str) -> None:
    """Wait until the service answers with success; raises GeocastError if it cannot."""
    deadline = time.monotonic() + _READY_SECONDS
    while time.monotonic() < deadline:
        for child in children:
            child.check()
        try:
            if http.get(path).is_success:
                return
        except httpx.TransportError:
            pass
        time.sleep(_POLL_SECONDS)
    raise GeocastError(
        f"{http.base_url}{path} did not answer within {_READY_SECONDS:.0f} s; see the journal"
    )


def _url(settings: Settings) -> str:
    return f"{settings.scheme}://{_reachable(settings.host)}:{settings.port}"


def _reachable(host: str) -> str:
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"[{host}]" if ":" in host else host


def _link(place: Place) -> str:
    """Return the code of a link to sign in by as administrator."""
    with closing(Repository.open(place.repository)) as repository:
        account = repository.accounts.get(ADMIN)
        assert account is not None
        return repository.links.issue(account.number, _LINK_SECONDS)[0]


def _say_how(place: Place, settings: Settings, seconds: float, link: str) -> None:
    url = _url(settings)
    token = os.path.relpath(place.admin_token)
    options = _options(place.root, url)
    console = Console(stderr=True, highlight=False)
    console.print(f"\n[bold]Geocast is ready[/bold] at {url} ({seconds:.0f} s)", soft_wrap=True)
    console.print(
        f"  open {url}/#link={link} to see the map; valid for 10 minutes, once\n"
        f"  (`geocast link{options}` makes another)\n"
        f"  token of the account admin: {token}\n"
        f"  journal: {os.path.relpath(place.journal)}/*.log    metrics: {url}/metrics"
        f"    API: {url}/openapi.json\n\n"
        "Try it, in two other terminals in this directory:\n"
        f"  geocast subscribe{options} --bbox 5,45,15,55 --listen\n"
        f"""  echo '{{"type": "Feature", "id": "hello", "properties": {{}}, "geometry": """
        f"""{{"type": "Point", "coordinates": [8.5, 47.4]}}}}' | geocast publish{options} -\n\n"""
        "Ctrl-C stops it.",
        soft_wrap=True,
        markup=False,
    )


def _options(data: Path, url: str) -> str:
    """Return what a command in this directory must be told to find the service and its token."""
    words = [] if url == DEFAULT_URL else ["--url", url]
    if data != Path.cwd() / _DEFAULT_DATA or not is_local(url):
        words += ["--data", os.path.relpath(data)]
    return "".join(f" {shlex.quote(word)}" for word in words)


def _stop(children: list[Child]) -> None:
    """Stop in order: first what takes in, then what matches, then what delivers."""
    for child in children:
        child.stop()
