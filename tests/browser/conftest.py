"""A running service and a real browser, shared by all tests of the map page."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Final

import pytest
from playwright.sync_api import Browser, sync_playwright

from geocast.bench.service import ServiceUnderTest
from geocast.gateway.assets import STATIC

BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="package")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceUnderTest]:
    """A service of its own: `url` is where the page is, `token` the administrator's."""
    assert (STATIC / "index.html").is_file(), "the map page is not built: `make web` builds it"
    place = tmp_path_factory.mktemp("browser") / "geocast-data"
    with ServiceUnderTest(place, {"GEOCAST_ALLOW_PRIVATE_WEBHOOKS": "true"}) as running:
        yield running


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """A Chromium that draws without a graphics card.

    Its driver keeps an event loop running in this process, in which no other test could run one.
    """
    named = os.environ.get("GEOCAST_BROWSER")
    found = named or next(filter(None, map(shutil.which, BROWSERS)), None)
    assert found is not None, "there is no Chromium: scripts/browser.sh installs one"
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=found, args=list(ARGUMENTS))
        yield launched
        launched.close()
