"""The map page as a person handles it: by mouse, finger and keyboard."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final

from playwright.sync_api import Locator, Page, expect

__all__ = ["MapPage", "Place", "wait_until"]

Place = tuple[float, float]
"""Longitude and latitude."""

PATIENCE: Final = 60_000
"""Milliseconds: two busy processors draw the map by software."""

expect.set_options(timeout=PATIENCE)

_READY: Final = "() => document.querySelector('app-shell')?.map?.getSource('events') !== undefined"
_PROJECT: Final = """([lon, lat]) => {
  const map = document.querySelector('app-shell').map;
  const { x, y } = map.project([lon, lat]);
  return [x, y];
}"""
_DATA: Final = """async (id) => {
  const map = document.querySelector('app-shell').map;
  return (await map.getSource(id).getData()).features;
}"""


def wait_until(what: str, found: Callable[[], bool], seconds: float = 60.0) -> None:
    """Wait until something holds, or fail and say what did not."""
    end = time.monotonic() + seconds
    while not found():
        assert time.monotonic() < end, f"not within {seconds:g} s: {what}"
        time.sleep(0.1)


class MapPage:
    """Wraps a page of the browser on which the map is, or will be, open."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url
        self.problems: list[str] = []
        page.set_default_timeout(PATIENCE)
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("console", self._listen)

    def _listen(self, message: Any) -> None:
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.problems.append(message.text)

    def open(self, fragment: str = "") -> None:
        """Open the page and wait for the map."""
        self.page.goto(f"{self.url}/{fragment}")
        self.page.wait_for_function(_READY, timeout=PATIENCE)

    def sign_in(self, token: str) -> None:
        """Sign in by pasting a token."""
        self.page.get_by_label("Access token").fill(token)
        self.page.get_by_role("button", name="Sign in").click()
        expect(self.panel).to_be_visible()

    @property
    def panel(self) -> Locator:
        """The panel beside the map, or the sheet on a phone."""
        return self.page.locator(".panel")

    def button(self, name: str, *, exact: bool = True) -> Locator:
        """A button by its name."""
        return self.page.get_by_role("button", name=name, exact=exact)

    def features(self, source: str) -> list[dict[str, Any]]:
        """What the map has in one of its sources."""
        found: list[dict[str, Any]] = self.page.evaluate(_DATA, source)
        return found

    def shown(self) -> set[str]:
        """The ids of the events on the map, whoever published them."""
        return {key.partition("/")[2] for key in self.keys()}

    def keys(self) -> set[str]:
        """Publisher and id of the events on the map."""
        found = [*self.features("events"), *self.features("shapes"), *self.features("fresh")]
        return {feature["properties"]["k"] for feature in found}

    def wait_shown(self, *ids: str) -> None:
        """Wait until events are on the map."""
        wait_until(f"{ids} on the map", lambda: set(ids) <= self.shown())

    def pixel(self, place: Place) -> Place:
        """Where on the screen a place is."""
        x, y = self.page.evaluate(_PROJECT, list(place))
        return x, y

    def click(self, place: Place) -> None:
        """Click a place on the map, with the mouse."""
        x, y = self.pixel(place)
        self.page.mouse.move(x, y)
        self.page.mouse.click(x, y)
        self.page.wait_for_timeout(80)

    def tap(self, place: Place) -> None:
        """Tap a place on the map, with a finger."""
        self.page.touchscreen.tap(*self.pixel(place))
        self.page.wait_for_timeout(350)

    def look_at(self, place: Place, zoom: float) -> None:
        """Move the map so that a place is in the middle of what the panel leaves free."""
        self.page.evaluate(
            "([lon, lat, zoom]) => document.querySelector('app-shell').map.jumpTo({"
            "center: [lon, lat], zoom})",
            [*place, zoom],
        )

    def draw(self, tool: str, *places: Place) -> dict[str, Any]:
        """Draw with a tool by clicks, and return the geometry."""
        self.panel.get_by_role("button", name=tool, exact=True).click()
        for place in places:
            self.click(place)
        return self.drawn()

    def drawn(self) -> dict[str, Any]:
        """The geometry that was drawn, once it is there."""
        wait_until("a drawing", lambda: len(self.features("draft")) == 1)
        geometry: dict[str, Any] = self.features("draft")[0]["geometry"]
        return geometry

    def new_subscription(self) -> None:
        """Begin a new subscription."""
        self.button("New subscription").click()
        expect(self.page.get_by_role("heading", name="New subscription")).to_be_visible()

    def type_area(self, text: str) -> None:
        """Type an area as text."""
        fold = self.page.locator("details.fold")
        if fold.get_attribute("open") is None:
            fold.locator("summary").click()
        self.page.get_by_label("Bounding box, GeoJSON or WKT").fill(text)
        self.button("Use it").click()

    def subscribe(self) -> None:
        """Press the button that subscribes, and wait until it is done."""
        self.button("Subscribe").click()
        expect(self.page.locator("subscription-detail")).to_be_visible()

    def to_list(self) -> None:
        """Go back to the list of subscriptions."""
        self.page.locator("nav").get_by_role("button", name="Subscriptions").click()
        expect(self.page.locator("subscription-list")).to_be_visible()
