"""The page for administrators, on a phone, for everybody; and the pictures of the documentation."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import pytest
import shapely
from axe_playwright_python.sync_playwright import Axe
from PIL import Image
from playwright.sync_api import Browser, expect

from geocast.bench.service import ServiceUnderTest
from tests.browser.events import point, scattered
from tests.browser.map_page import MapPage, wait_until
from tests.deliver.receiver import receiving

pytestmark = pytest.mark.browser

IMAGES: Final = Path(__file__).parents[2] / "docs" / "images"
MOST_BYTES: Final = 400_000
PICTURES: Final = bool(os.environ.get("GEOCAST_PICTURES"))
"""Pictures are written only when asked for, so that a test does not change the tree."""


def picture(shown: MapPage, name: str, rest: float = 4000) -> None:
    """Keep a picture of the page, once the map rests."""
    if PICTURES:
        shown.page.mouse.move(700, 300)
        shown.page.wait_for_timeout(rest)
        drawn = Image.open(BytesIO(shown.page.screenshot())).convert("RGB")
        kept = IMAGES / f"map-{name}.png"
        drawn.save(kept, optimize=True)
        assert kept.stat().st_size < MOST_BYTES, f"{kept.name} is too large for the documentation"


def faults(shown: MapPage) -> list[str]:
    """What axe finds serious."""
    found: list[dict[str, Any]] = Axe().run(shown.page).response["violations"]
    return [
        f"{one['id']}: {one['nodes'][0]['target']} {one['nodes'][0]['failureSummary']}"
        for one in found
        if one["impact"] in ("serious", "critical")
    ]


@pytest.fixture(scope="module")
def token(service: ServiceUnderTest) -> str:
    token = service.new_account("mira.keller", "publish,subscribe,admin")
    network = service.new_account("world-monitor")
    with service.client(token) as client:
        client.subscribe(
            shapely.box(112, 22, 150, 48),
            "within",
            "severity >= 4",
            id="pacific",
            properties={"name": "West Pacific"},
        ).wait_active()
        client.subscribe(
            shapely.box(-125, 30, -100, 50), id="west", properties={"name": "The West"}
        )
    with service.client(network) as client:
        client.publish_many(scattered(900, "report"))
    return token


@pytest.fixture(params=["light", "dark"])
def desktop(
    request: pytest.FixtureRequest, service: ServiceUnderTest, browser: Browser, token: str
) -> Iterator[MapPage]:
    context = browser.new_context(
        viewport={"width": 1440, "height": 900},
        device_scale_factor=1 if PICTURES else 0.4,
        color_scheme=request.param,
        reduced_motion="reduce",
    )
    found = MapPage(context.new_page(), service.url)
    found.open()
    assert faults(found) == []
    found.sign_in(token)
    yield found
    context.close()
    assert found.problems == []


def test_desktop(service: ServiceUnderTest, desktop: MapPage, token: str) -> None:
    theme = desktop.page.locator("html").get_attribute("data-theme")
    expect(desktop.page.locator("subscription-list .row")).to_have_count(2)
    wait_until("events", lambda: len(desktop.shown()) > 500)
    wait_until("colours", lambda: desktop.page.locator(".legend li").count() > 3)
    assert faults(desktop) == []
    picture(desktop, f"desktop-{theme}")
    look_at_the_service(service, desktop, token)
    picture(desktop, f"service-{theme}", rest=500)
    desktop.to_list()
    desktop.page.locator("subscription-list .row", has_text="West Pacific").click()
    expect(desktop.page.locator(".notice").first).to_be_visible()
    desktop.page.locator(".notice").first.click()
    expect(desktop.page.get_by_role("region", name="Event")).to_be_visible()
    assert faults(desktop) == []
    picture(desktop, f"notifications-{theme}")
    edit(desktop)
    picture(desktop, f"subscribe-{theme}")
    desktop.button("Write CQL2").click()
    desktop.page.get_by_label("Conditions in CQL2").fill("severity >= ")
    expect(desktop.page.locator("#cql-error")).to_contain_text("too early")
    assert faults(desktop) == []


def edit(desktop: MapPage) -> None:
    desktop.to_list()
    desktop.new_subscription()
    desktop.type_area("-20, 35, 45, 62")
    expect(desktop.page.locator(".relation")).to_have_count(5)
    desktop.button("Condition").click()
    desktop.panel.get_by_label("Attribute", exact=True).fill("severity")
    desktop.panel.get_by_label("Attribute", exact=True).press("Tab")
    desktop.page.get_by_label("Comparison").select_option("at least")
    desktop.panel.get_by_label("Value", exact=True).fill("3")
    expect(desktop.page.locator(".outcome")).to_contain_text("would have matched")
    assert faults(desktop) == []


def look_at_the_service(service: ServiceUnderTest, desktop: MapPage, token: str) -> None:
    with service.client(token) as client:
        list(client.publish_each([point("buoy-17", 208.5, 47.4), point("buoy-18", 8, 47)]))
        desktop.page.locator("nav").get_by_role("button", name="Service").click()
        panel = desktop.page.locator("service-panel")
        for heading in ("Published", "Matched", "Delay", "Batch"):
            expect(panel.locator("live-plot", has_text=heading).locator("canvas")).to_be_visible()
        expect(panel).to_contain_text("longitude 208.5")
        expect(panel.locator(".tile", has_text="Snapshot")).to_contain_text("v")
        expect(panel.locator(".tile", has_text="Parked webhooks")).to_contain_text("0")
        for number in range(8 if PICTURES else 1):
            named = f"report-{time.time() % 10_000:.0f}"
            client.publish_many(scattered(60 + 40 * (number % 3), named, seed=number))
            desktop.page.wait_for_timeout(2000)
    published = panel.locator("live-plot", has_text="Published")
    expect(published.locator("strong")).to_contain_text(re.compile(r"\d"))
    assert faults(desktop) == []


def test_parked_webhook_is_seen_and_tried_again(
    service: ServiceUnderTest, browser: Browser
) -> None:
    token = service.new_account("keeper", "publish,subscribe,admin")
    context = browser.new_context(viewport={"width": 800, "height": 600}, device_scale_factor=0.3)
    keeper = MapPage(context.new_page(), service.url)
    keeper.open()
    keeper.sign_in(token)
    keeper.page.locator("nav").get_by_role("button", name="Service").click()
    panel = keeper.page.locator("service-panel")
    parked = panel.locator(".tile", has_text="Parked webhooks").locator("dd")
    expect(parked).to_have_text("0")
    with (
        receiving(lambda before: 410 if before == 0 else 200) as hook,
        service.client(token) as client,
    ):
        made = client.subscribe(shapely.box(-61, -61, -59, -59), id="hooked", webhook=hook.url)
        made.wait_active(60)
        client.publish(point("for-the-hook", -60, -60, topic="quake"))
        row = panel.locator("li", has_text=f"127.0.0.1:{hook.server_port}")
        expect(row).to_contain_text("410")
        expect(row).to_contain_text("keeper")
        expect(parked).to_have_text("1")
        panel.get_by_role("button", name="Try again").click()
        expect(keeper.page.locator(".toast")).to_contain_text("tried again")
        wait_until("it is told", lambda: hook.publications == ["for-the-hook"] * 2)
        expect(panel).to_contain_text("None is parked.")
        expect(parked).to_have_text("0")
        client.unsubscribe("hooked")
    context.close()
    assert keeper.problems == []


def focused(shown: MapPage) -> str:
    """What has the focus, by the words that a screen reader says."""
    return str(
        shown.page.evaluate(
            "() => { const at = document.activeElement; const name = at.getAttribute('aria-label')"
            "|| at.labels?.[0]?.innerText || at.innerText || at.tagName;"
            "return name.trim().replace(/\\s+/g, ' '); }"
        )
    )


def tab_to(shown: MapPage, name: str) -> list[str]:
    """Press Tab until something has the focus; return what had it on the way."""
    passed: list[str] = []
    while not passed or passed[-1] != name:
        assert len(passed) < 60, f"{name} is not reached: {passed}"
        shown.page.keyboard.press("Tab")
        passed.append(focused(shown))
    return passed


def test_keyboard_alone(service: ServiceUnderTest, browser: Browser) -> None:
    token = service.new_account("typist")
    context = browser.new_context(viewport={"width": 900, "height": 700}, device_scale_factor=0.3)
    shown = MapPage(context.new_page(), service.url)
    shown.open()
    keyboard = shown.page.keyboard
    keyboard.type(token)
    keyboard.press("Enter")
    expect(shown.button("New subscription")).to_be_focused()
    order = tab_to(shown, "Live")
    assert order[:1] == ["Desktop notifications"], order
    assert order[-4:] == ["Replay", "Moment shown", "Time span", "Live"], order
    order = tab_to(shown, "New subscription")
    stations = ["Map", "Zoom in", "Zoom out", "Globe", "Dark colours", "Sign out", "Subscriptions"]
    assert [one for one in order if one in stations] == stations, order

    keyboard.press("Enter")
    expect(shown.page.get_by_role("heading", name="New subscription")).to_be_focused()
    order = tab_to(shown, "Polygon")
    assert order == ["Name", "Point", "Line", "Polygon"]
    keyboard.press("Enter")
    expect(shown.page.locator(".draw-hint")).to_be_visible()
    keyboard.press("Escape")
    expect(shown.page.locator(".draw-hint")).to_have_count(0)
    expect(shown.button("Polygon")).to_be_focused()
    tab_to(shown, "or a country")
    keyboard.type("Iceland")
    keyboard.press("Tab")
    expect(shown.button("Remove")).to_be_visible()
    order = tab_to(shown, "Remove")
    assert len(order) < 5, order
    tab_to(shown, "points")
    tab_to(shown, "intersects")
    keyboard.press("ArrowRight")
    expect(shown.page.locator(".relation input:checked")).to_have_value("within")
    tab_to(shown, "Subscribe")
    keyboard.press("Enter")
    title = shown.page.locator("subscription-detail h2")
    expect(title).to_be_focused()
    expect(shown.page.locator(".detail-head .badge")).to_have_text("active")

    with service.client(token) as client:
        assert [one.facts.predicate for one in client.subscriptions()] == ["within"]
        client.publish(point("geyser", -19, 64.9, topic="quake"))
    notice = shown.page.locator(".notice")
    expect(notice).to_contain_text("geyser")
    tab_to(shown, "Clear")
    keyboard.press("Tab")
    expect(notice).to_be_focused()
    keyboard.press("Enter")
    card = shown.page.get_by_role("region", name="Event")
    expect(card).to_be_visible()
    tab_to(shown, "Close")
    keyboard.press("Escape")
    expect(card).to_have_count(0)
    expect(notice).to_be_focused()

    shown.page.keyboard.press("Shift+Tab")
    shown.page.keyboard.press("Shift+Tab")
    expect(shown.button("Delete")).to_be_focused()
    keyboard.press("Enter")
    expect(shown.button("Keep")).to_be_focused()
    keyboard.press("Escape")
    expect(shown.button("Delete")).to_be_focused()
    keyboard.press("Enter")
    keyboard.press("Tab")
    keyboard.press("Enter")
    expect(shown.page.get_by_text("No subscriptions yet")).to_be_visible()
    expect(shown.button("New subscription")).to_be_focused()
    context.close()
    assert shown.problems == []


@pytest.mark.parametrize(
    ("tool", "places", "kind"),
    [
        ("Point", [(10, 20)], "Point"),
        ("Line", [(-20, 0), (0, 20), (20, 0), (20, 0)], "LineString"),
        ("Polygon", [(-20, 0), (20, 0), (20, 30), (-20, 0)], "Polygon"),
        ("Rectangle", [(-20, 0), (20, 30)], "Polygon"),
        ("Circle", [(0, 20), (15, 20)], "Polygon"),
    ],
)
def test_drawing_by_touch(
    finger: MapPage, tool: str, places: list[tuple[float, float]], kind: str
) -> None:
    finger.button("New subscription").tap()
    finger.panel.get_by_role("button", name=tool, exact=True).tap()
    expect(finger.page.locator(".draw-hint")).to_contain_text("Tap")
    for place in places:
        finger.tap(place)
    drawn = shapely.geometry.shape(finger.drawn())
    assert drawn.geom_type == kind
    assert drawn.is_valid
    assert drawn.distance(shapely.Point(places[0])) < 2
    if tool == "Circle":
        assert 13 < shapely.bounds(drawn)[2] < 17
    finger.button("Back without saving").tap()
    expect(finger.page.locator("subscription-list")).to_be_visible()


def test_opened_event_is_seen_on_a_phone(finger: MapPage) -> None:
    finger.page.locator("subscription-list .row", has_text="West Pacific").tap()
    finger.page.locator(".notice").first.tap()
    card = finger.page.locator(".event-card")
    expect(card).to_be_visible()
    wait_until("the event is marked", lambda: len(finger.features("open")) == 1)
    place = shapely.geometry.shape(finger.features("open")[0]["geometry"]).centroid

    def is_free() -> bool:
        x, y = finger.pixel((place.x, place.y))
        at = "([x, y]) => document.elementFromPoint(x, y)?.className ?? ''"
        return "maplibregl-canvas" in str(finger.page.evaluate(at, [x, y]))

    wait_until("nothing lies over the event", is_free)
    finger.button("Open the panel").tap()
    expect(card).to_have_count(0)
    expect(finger.page.locator(".notice").first).to_be_visible()
    finger.to_list()


@pytest.fixture(scope="module")
def finger(service: ServiceUnderTest, browser: Browser, token: str) -> Iterator[MapPage]:
    """A phone on which nothing has been drawn yet."""
    context = browser.new_context(
        viewport={"width": 390, "height": 844},
        device_scale_factor=0.3,
        has_touch=True,
        is_mobile=True,
        reduced_motion="reduce",
    )
    found = MapPage(context.new_page(), service.url)
    found.open()
    found.sign_in(token)
    found.look_at((0, 10), 1.5)
    yield found
    context.close()
    assert found.problems == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_phone(service: ServiceUnderTest, browser: Browser, token: str, scheme: Any) -> None:
    context = browser.new_context(
        viewport={"width": 390, "height": 844},
        device_scale_factor=2 if PICTURES else 0.5,
        color_scheme=scheme,
        has_touch=True,
        is_mobile=True,
        reduced_motion="reduce",
    )
    phone = MapPage(context.new_page(), service.url)
    phone.open()
    phone.sign_in(token)
    expect(phone.page.locator("subscription-list .row")).to_have_count(2)
    wait_until("events", lambda: len(phone.shown()) > 500)
    assert faults(phone) == []
    picture(phone, "phone" if scheme == "light" else "phone-dark")
    box = phone.panel.bounding_box()
    assert box is not None
    assert box["width"] == 390, "the panel is a sheet"
    phone.button("Close the panel").tap()
    wait_until("a low sheet", lambda: (phone.panel.bounding_box() or box)["height"] < 150)
    phone.button("Open the panel").tap()
    phone.button("New subscription").tap()
    phone.panel.get_by_role("button", name="Rectangle", exact=True).tap()
    wait_until("room to draw", lambda: (phone.panel.bounding_box() or box)["height"] < 150)
    phone.tap((-40, 0))
    phone.tap((40, 40))
    assert phone.drawn()["type"] == "Polygon"
    expect(phone.page.locator(".outcome")).to_contain_text("would have matched")
    assert faults(phone) == []
    picture(phone, "phone-subscribe" if scheme == "light" else "phone-subscribe-dark")
    phone.button("Subscribe").tap()
    expect(phone.page.locator(".detail-head .badge")).to_have_text("active")
    phone.button("Delete").tap()
    phone.button("Delete").tap()
    expect(phone.page.locator("subscription-list .row")).to_have_count(2)
    context.close()
    assert phone.problems == []
