"""Subscribing by drawing, being notified, changing and deleting; publishing by hand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, BrowserContext, expect
from shapely import MultiPoint, Point, box, get_coordinates
from shapely.geometry import shape

from geocast.bench.service import ServiceUnderTest
from tests.browser.events import point
from tests.browser.map_page import MapPage, wait_until

pytestmark = pytest.mark.browser

PACIFIC = "-148, -50, -138, -45.5"
"""Far from everything that other tests publish."""


@pytest.fixture(scope="module")
def token(service: ServiceUnderTest) -> str:
    with service.client() as client:
        client.publish_many(
            [
                *(
                    point(f"pacific-{n}", -145 + n / 10, -48, mag=n, topic="quake")
                    for n in range(10)
                ),
                point("far-away", -60, -10, mag=9, topic="fire"),
            ]
        )
    return service.new_account("drawer")


@pytest.fixture(scope="module")
def context(browser: Browser) -> Iterator[BrowserContext]:
    found = browser.new_context(
        viewport={"width": 1000, "height": 700},
        device_scale_factor=0.5,
        reduced_motion="reduce",
        permissions=["notifications"],
    )
    yield found
    found.close()


@pytest.fixture(scope="module")
def signed(service: ServiceUnderTest, context: BrowserContext, token: str) -> Iterator[MapPage]:
    found = MapPage(context.new_page(), service.url)
    found.open()
    expect(found.page.get_by_label("Access token")).to_be_focused()
    found.sign_in(token)
    expect(found.page.get_by_text("No subscriptions yet")).to_be_visible()
    found.look_at((0, 20), 1.2)
    yield found
    assert found.problems == []


@pytest.mark.parametrize(
    ("tool", "places", "kind"),
    [
        ("Point", [(10, 20)], "Point"),
        ("Line", [(0, 0), (20, 10), (40, 0), (40, 0)], "LineString"),
        ("Polygon", [(0, 0), (30, 0), (30, 25), (0, 0)], "Polygon"),
        ("Rectangle", [(-10, 0), (30, 30)], "Polygon"),
        ("Circle", [(10, 20), (25, 20)], "Polygon"),
    ],
)
def test_drawing(signed: MapPage, tool: str, places: list[tuple[float, float]], kind: str) -> None:
    signed.to_list()
    signed.new_subscription()
    geometry = signed.draw(tool, *places)
    assert geometry["type"] == kind
    drawn = shape(geometry)
    if tool == "Circle":
        assert drawn.centroid.distance(Point(places[0])) < 0.5
        assert drawn.boundary.distance(Point(places[1])) < 0.5
    elif tool == "Rectangle":
        assert drawn.equals_exact(box(*places[0], *places[1]).normalize(), 0.3, normalize=True)
    else:
        corners = MultiPoint(get_coordinates(drawn))
        assert corners.hausdorff_distance(MultiPoint(places)) < 0.3
    signed.button("Back without saving").click()


def test_drawing_across_the_antimeridian(signed: MapPage) -> None:
    signed.to_list()
    signed.look_at((180, 20), 1.2)
    signed.new_subscription()
    geometry = signed.draw("Rectangle", (170, 0), (190, 30))
    west, east = sorted(shape(geometry).geoms, key=lambda part: part.bounds)
    assert west.bounds == pytest.approx((-180, 0, -170, 30), abs=0.3)
    assert east.bounds == pytest.approx((170, 0, 180, 30), abs=0.3)
    signed.look_at((0, 20), 1.2)
    signed.button("Back without saving").click()


def test_a_draft_waits_while_somebody_looks_elsewhere(signed: MapPage) -> None:
    signed.to_list()
    signed.new_subscription()
    signed.type_area(PACIFIC)
    signed.panel.get_by_role("button", name="Polygon", exact=True).click()
    tabs = signed.page.locator("nav")
    tabs.get_by_role("button", name="Publish").click()
    expect(signed.page.locator(".draw-hint")).to_have_count(0)
    tabs.get_by_role("button", name="Subscriptions").click()
    expect(signed.page.get_by_role("heading", name="New subscription")).to_be_visible()
    assert len(signed.features("draft")) == 1
    tabs.get_by_role("button", name="Subscriptions").click()
    expect(signed.page.locator("subscription-list")).to_be_visible()
    wait_until("no draft", lambda: signed.features("draft") == [])


def test_editing_changes_only_what_was_edited(
    service: ServiceUnderTest, signed: MapPage, token: str
) -> None:
    area = {
        "type": "Polygon",
        "coordinates": [[[-148, -50], [-138, -50], [-138, -46], [-148, -50]]],
    }
    text = "unseen = '8001'"
    with service.client(token) as client:
        client.subscribe(area, "overlaps", text, id="kept")
        signed.page.reload()
        signed.page.get_by_role("button", name="kept").click()
        signed.button("Edit").click()
        expect(signed.page.locator(".relation input:checked")).to_have_value("overlaps")
        signed.page.get_by_label("Name", exact=True).fill("another name")
        signed.button("Save changes").click()
        expect(signed.page.get_by_role("heading", name="another name")).to_be_visible()
        [saved] = [one for one in client.subscriptions() if one.id == "kept"]
        assert saved.facts.predicate == "overlaps"
        assert saved.facts.filter == text
        client.unsubscribe("kept")
    signed.to_list()
    signed.page.reload()


def test_escape_cancels_a_drawing(signed: MapPage) -> None:
    signed.to_list()
    signed.new_subscription()
    signed.panel.get_by_role("button", name="Polygon", exact=True).click()
    expect(signed.page.locator(".draw-hint")).to_contain_text("Click the corners")
    signed.click((0, 0))
    signed.page.keyboard.press("Escape")
    expect(signed.page.locator(".draw-hint")).to_have_count(0)
    assert signed.features("draft") == []
    signed.button("Back without saving").click()


def test_a_hand_that_is_not_steady_draws(signed: MapPage) -> None:
    signed.to_list()
    signed.new_subscription()
    signed.panel.get_by_role("button", name="Rectangle", exact=True).click()
    mouse = signed.page.mouse
    for x, y in (signed.pixel((-10, 0)), signed.pixel((30, 30))):
        mouse.move(x, y)
        mouse.down()
        mouse.move(x + 2, y + 3)
        mouse.up()
        signed.page.wait_for_timeout(80)
    west, south, east, north = shape(signed.drawn()).bounds
    assert abs(west + 10) < 3
    assert abs(south) < 3
    assert abs(east - 30) < 3
    assert abs(north - 30) < 3
    signed.button("Back without saving").click()


def test_enter_takes_the_country_and_no_more(signed: MapPage) -> None:
    signed.to_list()
    signed.new_subscription()
    signed.type_area(PACIFIC)
    signed.drawn()
    country = signed.page.get_by_label("or a country")
    country.fill("atlantis")
    country.press("Enter")
    expect(signed.page.get_by_text("There is no country “atlantis”")).to_be_visible()
    country.fill("iceland")
    country.press("Enter")
    wait_until("Iceland", lambda: shape(signed.drawn()).distance(Point(-19, 64.9)) < 0.2)
    expect(signed.page.get_by_role("heading", name="New subscription")).to_be_visible()
    expect(signed.page.get_by_label("Name")).to_have_attribute("placeholder", "intersects Iceland")
    signed.button("Back without saving").click()
    expect(signed.page.get_by_text("No subscriptions yet")).to_be_visible()


def test_country_and_text(signed: MapPage) -> None:
    signed.to_list()
    signed.new_subscription()
    country = signed.page.get_by_label("or a country")
    country.fill("Atlantis")
    country.press("Tab")
    expect(signed.page.get_by_text("There is no country “Atlantis”")).to_be_visible()
    country.fill("singapore")
    country.press("Tab")
    wait_until("Singapore", lambda: shape(signed.drawn()).distance(Point(103.8, 1.35)) < 0.2)
    country.fill("japan")
    country.press("Tab")
    wait_until("Japan", lambda: shape(signed.drawn()).distance(Point(139.7, 36)) < 0.2)
    assert signed.drawn()["type"] == "MultiPolygon"
    signed.type_area("POLYGON((")
    expect(signed.page.get_by_text("neither GeoJSON nor WKT")).to_be_visible()
    signed.type_area('{"type": "Point", "coordinates": [8, 47]}')
    wait_until("the point", lambda: signed.drawn()["type"] == "Point")
    signed.type_area("LINESTRING(8 47, 9 48)")
    wait_until("the line", lambda: signed.drawn()["type"] == "LineString")
    signed.button("Back without saving").click()


def test_only_possible_relations_are_offered(signed: MapPage) -> None:
    signed.to_list()
    signed.new_subscription()
    signed.type_area(PACIFIC)
    relations = signed.page.locator(".relation")
    expect(relations).to_have_text(
        ["intersects", "within", "covered by", "touches", "disjoint"], use_inner_text=True
    )
    expect(signed.page.locator(".relation svg")).to_have_count(5)
    signed.page.locator(".segment", has_text="areas").click()
    expect(relations).to_have_count(9)
    signed.page.locator(".relation", has_text="overlaps").click()
    expect(signed.page.locator(".meaning")).to_contain_text("shares some of its extent")
    signed.page.locator(".segment", has_text="points").click()
    expect(signed.page.locator(".relation input:checked")).to_have_value("intersects")
    signed.button("Back without saving").click()


@contextmanager
def held(service: ServiceUnderTest) -> Iterator[None]:
    """Let what makes subscriptions active stand still, as if the machine had no time for it."""
    processes = service.processes()["pipeline"]
    assert processes
    for process in processes:
        process.suspend()
    try:
        yield
    finally:
        for process in processes:
            process.resume()


def states(shown: MapPage) -> list[str]:
    return [one["properties"]["status"] for one in shown.features("subscriptions")]


def test_subscribe_with_preview_and_be_notified(service: ServiceUnderTest, signed: MapPage) -> None:
    signed.to_list()
    signed.new_subscription()
    signed.page.get_by_label("Name").fill("Pacific")
    signed.type_area(PACIFIC)
    outcome = signed.page.locator(".outcome")
    expect(outcome).to_contain_text(re.compile(r"^\s*10\s+of the last"))
    signed.page.locator(".relation", has_text="within").click()
    signed.button("Condition").click()
    signed.panel.get_by_label("Attribute", exact=True).fill("mag")
    signed.panel.get_by_label("Attribute", exact=True).press("Tab")
    signed.page.get_by_label("Comparison").select_option("at least")
    signed.panel.get_by_label("Value", exact=True).fill("4")
    expect(outcome).to_contain_text(re.compile(r"^\s*6\s+of the last"))
    wait_until("six are marked", lambda: len(signed.features("matched")) == 6)
    signed.button("Write CQL2").click()
    text = signed.page.get_by_label("Conditions in CQL2")
    expect(text).to_have_value("mag >= 4")
    text.fill("mag >== 4")
    expect(signed.page.locator("#cql-error")).to_contain_text("unexpected")
    expect(signed.page.locator(".cql-marks mark")).to_have_text("=")
    expect(signed.button("Subscribe")).to_be_disabled()
    text.fill("mag >= 5")
    expect(outcome).to_contain_text(re.compile(r"^\s*5\s+of the last"))
    signed.button("Use the form").click()
    expect(signed.panel.get_by_label("Value", exact=True)).to_have_value("5")

    badge = signed.page.locator(".detail-head .badge")
    with held(service):
        signed.subscribe()
        expect(badge).to_have_text("pending")
        wait_until("pending on the map", lambda: states(signed) == ["pending"])
        expect(signed.page.get_by_text("It becomes active in a moment.")).to_be_visible()
    expect(badge).to_have_text("active")
    wait_until("active on the map", lambda: states(signed) == ["active"])

    with service.client() as client:
        client.publish(point("told-1", -144, -48, mag=7, topic="quake"))
        client.publish(point("untold", -144, -48, mag=1, topic="quake"))
    notices = signed.page.locator(".notice")
    expect(notices).to_have_count(1)
    with service.client() as client:
        client.publish(point("told-2", -143.5, -47.5, mag=8, topic="quake"))
    expect(notices).to_have_count(2)
    expect(notices.first).to_contain_text("told-2")
    notices.last.click()
    expect(signed.page.get_by_role("region", name="Event")).to_contain_text("told-1")
    wait_until("the event is marked", lambda: len(signed.features("open")) == 1)
    x, y = signed.pixel((-144, -48))
    assert 390 < x < 1000
    assert 0 < y < 700
    signed.page.get_by_role("region", name="Event").get_by_role("button", name="Close").click()


def test_list_with_search_and_unread_counts(service: ServiceUnderTest, signed: MapPage) -> None:
    signed.to_list()
    signed.new_subscription()
    signed.page.get_by_label("Name").fill("Everything <b>hot</b>")
    signed.button("Condition").click()
    signed.panel.get_by_label("Attribute", exact=True).fill("temperature")
    signed.panel.get_by_label("Attribute", exact=True).press("Tab")
    signed.page.get_by_label("Comparison").select_option("more than")
    signed.panel.get_by_label("Value", exact=True).fill("30")
    signed.subscribe()
    expect(signed.page.get_by_role("heading", name="Everything <b>hot</b>")).to_be_visible()
    signed.to_list()
    rows = signed.page.locator("subscription-list .row")
    expect(rows).to_have_count(2)
    signed.page.get_by_label("Search subscriptions").fill("pacific")
    expect(rows).to_have_count(1)
    signed.page.get_by_label("Search subscriptions").fill("")
    with service.client() as client:
        client.publish(point("told-3", -144, -48, mag=7, topic="quake"))
    pacific = rows.filter(has_text="Pacific")
    expect(pacific.locator(".count")).to_have_text("1")
    pacific.click()
    expect(signed.page.locator(".notice").first).to_contain_text("told-3")
    signed.to_list()
    expect(pacific.locator(".count")).to_have_count(0)


def test_desktop_notifications_while_looking_elsewhere(
    service: ServiceUnderTest, signed: MapPage
) -> None:
    signed.to_list()
    page = signed.page
    # The browser's own notifications, which tell here when the browser has shown them.
    page.evaluate(
        "() => { window.told = []; const Real = window.Notification;"
        "window.Notification = class extends Real { constructor(title, options) {"
        "super(title, options);"
        "this.onshow = () => window.told.push([this.title, this.body]); } }; }"
    )
    signed.button("Desktop notifications").click()
    expect(signed.button("Desktop notifications")).to_have_attribute("aria-pressed", "true")
    with service.client() as client:
        client.publish(point("told-in-front", -144, -48, mag=7, topic="quake"))
    pacific = page.locator("subscription-list .row", has_text="Pacific")
    expect(pacific.locator(".count")).to_have_text("1")
    assert page.evaluate("window.told") == [], "nobody is disturbed who looks at the page"
    elsewhere = page.context.new_page()
    elsewhere.bring_to_front()
    session = page.context.new_cdp_session(page)
    session.send("Emulation.setFocusEmulationEnabled", {"enabled": False})
    wait_until("the page is not in front", lambda: not page.evaluate("document.hasFocus()"))
    with service.client() as client:
        client.publish(point("told-4", -144, -48, mag=7, topic="quake"))
    wait_until("a desktop notification", lambda: bool(page.evaluate("window.told.length")))
    assert page.evaluate("window.told") == [["Pacific", "New event: told-4"]]
    session.send("Emulation.setFocusEmulationEnabled", {"enabled": True})
    elsewhere.close()
    page.bring_to_front()
    signed.button("Desktop notifications").click()
    pacific.click()
    signed.to_list()


def test_missed_ones_are_marked_after_coming_back(
    service: ServiceUnderTest, signed: MapPage, token: str
) -> None:
    signed.page.goto("about:blank")
    with service.client() as client:
        client.publish(point("missed-1", -144, -48, mag=7, topic="quake"))
        client.publish(point("missed-2", -144, -48, mag=9, topic="quake"))
    with service.client(token) as drawer:
        wait_until(
            "it waits in the mailbox",
            lambda: any(one.publication == "missed-2" for one in drawer.notifications()),
        )
    signed.open()
    expect(signed.page.get_by_text("2 notifications came while you were away")).to_be_visible()
    row = signed.page.locator("subscription-list .row", has_text="Pacific")
    row.click()
    expect(signed.page.locator(".notice .badge.missed")).to_have_count(2)
    expect(signed.page.locator(".notice").first).to_contain_text("missed-2")


def test_edit_pause_resume_delete(signed: MapPage) -> None:
    signed.to_list()
    signed.page.locator("subscription-list .row", has_text="Pacific").click()
    signed.button("Edit").click()
    expect(signed.panel.get_by_label("Value", exact=True)).to_have_value("5")
    signed.page.get_by_label("Name").fill("Low Pacific")
    signed.panel.get_by_label("Value", exact=True).fill("6")
    signed.button("Save changes").click()
    badge = signed.page.locator(".detail-head .badge")
    expect(signed.page.get_by_role("heading", name="Low Pacific")).to_be_visible()
    expect(signed.page.locator(".facts")).to_contain_text("mag >= 6")
    expect(badge).to_have_text("active")
    signed.button("Pause").click()
    expect(badge).to_have_text("paused")
    wait_until(
        "grey on the map",
        lambda: signed.features("subscriptions")[0]["properties"]["status"] == "paused",
    )
    signed.button("Resume").click()
    expect(badge).to_have_text("active")
    signed.button("Delete").click()
    signed.button("Delete").click()
    expect(signed.page.locator("subscription-list .row")).to_have_count(1)
    wait_until("gone from the map", lambda: signed.features("subscriptions") == [])


def test_publish_by_hand(service: ServiceUnderTest, signed: MapPage) -> None:
    signed.look_at((0, 20), 1.2)
    signed.page.locator("nav").get_by_role("button", name="Publish").click()
    signed.page.locator("publish-panel").get_by_role("button", name="Publish").click()
    expect(signed.page.get_by_text("Choose where it happens first.")).to_be_visible()
    signed.draw("Point", (10, 10))
    names, values = (
        signed.panel.get_by_label("Attribute", exact=True),
        signed.panel.get_by_label("Value", exact=True),
    )
    names.first.fill("temperature")
    values.first.fill("41.5")
    names.nth(1).fill("station")
    values.nth(1).fill("by hand")
    signed.page.locator("publish-panel").get_by_role("button", name="Publish").click()
    expect(signed.page.locator(".toast")).to_contain_text("Published as")
    signed.to_list()
    hot = signed.page.locator("subscription-list .row", has_text="hot")
    expect(hot.locator(".count")).to_have_text("1")
    hot.click()
    expect(signed.page.locator(".notice")).to_contain_text("temperature 41.5")


def test_equal_ids_of_two_publishers_are_two_events(
    service: ServiceUnderTest, signed: MapPage
) -> None:
    places = {"harbour": (-178.0, -58.0), "airport": (-176.0, -57.0)}
    for name, (lon, lat) in places.items():
        with service.client(service.new_account(name)) as client:
            client.publish(point("one", lon, lat, topic="quake", whose=name))
    wait_until("both", lambda: {"harbour/one", "airport/one"} <= signed.keys())
    signed.to_list()
    signed.new_subscription()
    signed.type_area("-179, -59, -175, -56")
    expect(signed.page.locator(".outcome")).to_contain_text(re.compile(r"^\s*2\s+of the last"))
    wait_until("both are marked", lambda: len(signed.features("matched")) == 2)
    signed.button("Back without saving").click()
    card = signed.page.get_by_role("region", name="Event")
    for name, place in places.items():
        signed.look_at(place, 9)
        signed.page.wait_for_timeout(1500)
        signed.click(place)
        expect(card).to_contain_text(f"by {name}")
        expect(card.locator("dd").last).to_have_text(name)
    card.get_by_role("button", name="Close").click()
