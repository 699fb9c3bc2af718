import { describe, expect, it } from "vitest";
import { DrawnFeatures } from "../src/map/drawn-features";
import { type Look, parted } from "../src/map/event-features";
import {
  CATEGORY_COLOURS,
  colouringBy,
  likelyAttribute,
  PLAIN,
  steady,
} from "../src/model/colours";
import { EventStore, fade, type GeoEvent, readEvent } from "../src/model/events";

function event(id: string, time = 0, properties: Record<string, unknown> = {}): GeoEvent {
  const geometry = { type: "Point" as const, coordinates: [0, 0] };
  return { key: id, id, publisher: "ann", time, kind: "point", geometry, properties };
}

function many(count: number, from = 0): GeoEvent[] {
  return Array.from({ length: count }, (_, at) => event(`e${from + at}`, from + at));
}

describe("the store of events", () => {
  it("keeps the newest within its capacity", () => {
    const store = new EventStore(100);
    store.add(many(250));
    expect(store.size).toBe(100);
    expect(store.get("e149")).toBeUndefined();
    expect(store.get("e150")).toBeDefined();
    expect(store.arrived).toBe(250);
  });

  it("takes an event once", () => {
    const store = new EventStore();
    expect(store.add(many(3))).toHaveLength(3);
    expect(store.add(many(3))).toHaveLength(0);
    expect(store.size).toBe(3);
  });

  it("puts older ones before, as far as there is room", () => {
    const store = new EventStore(5);
    store.add(many(3, 10));
    store.addBefore(many(4, 5).reverse());
    expect([...store.values()].map(({ id }) => id)).toEqual(["e7", "e8", "e10", "e11", "e12"]);
  });

  it("knows since when it has all", () => {
    const store = new EventStore(5);
    store.add(many(3, 10));
    expect(store.completeFrom).toBe(Number.POSITIVE_INFINITY);
    expect(store.addBefore(many(2, 8).reverse())).toBe(true);
    store.complete(8);
    expect(store.completeFrom).toBe(8);
    store.add(many(1, 13));
    expect(store.completeFrom).toBe(9);
    store.complete(3);
    expect(store.completeFrom, "what had no room does not come back").toBe(9);
    expect(store.addBefore(many(2, 4).reverse())).toBe(false);
  });

  it("finds those of a time span", () => {
    const store = new EventStore();
    store.add(many(10));
    expect(store.between(3, 5).map(({ id }) => id)).toEqual(["e3", "e4", "e5"]);
  });

  it("takes 500 a second for a minute at little cost", () => {
    const store = new EventStore(20_000);
    const begun = performance.now();
    for (let batch = 0; batch < 600; batch++) store.add(many(50, batch * 50));
    expect(store.size).toBe(20_000);
    expect(performance.now() - begun).toBeLessThan(2000);
  });

  it("knows the kind of most events", () => {
    const store = new EventStore();
    store.add([{ ...event("a"), kind: "line" }, { ...event("b"), kind: "line" }, event("c")]);
    expect(store.commonKind).toBe("line");
    expect(store.kindsSeen()).toEqual(["point", "line"]);
  });
});

describe("an event", () => {
  it("is read as the gateway tells it", () => {
    const read = readEvent({
      type: "Feature",
      id: "bus-7",
      geometry: { type: "LineString", coordinates: [] },
      properties: null,
      geocast: { publisher: "fleet", time: "2026-11-17T10:00:00Z" },
    });
    expect(read).toMatchObject({ id: "bus-7", kind: "line", time: Date.UTC(2026, 10, 17, 10) });
    expect(read).toMatchObject({ key: "fleet/bus-7", publisher: "fleet" });
  });

  it("is another one if another publisher gave it the same id", () => {
    const told = { type: "Feature" as const, id: "1", properties: {} };
    const geometry = { type: "Point" as const, coordinates: [0, 0] };
    const store = new EventStore();
    for (const publisher of ["ann", "bob"]) {
      const read = readEvent({ ...told, geometry, geocast: { publisher } });
      if (read) store.add([read]);
    }
    expect([...store.values()].map(({ key }) => key)).toEqual(["ann/1", "bob/1"]);
  });

  it("without a geometry is not drawn", () => {
    expect(readEvent({ type: "Feature", geometry: null as never, properties: {} })).toBeNull();
  });

  it("fades with its age, but never vanishes within the span", () => {
    expect(fade(0, 100)).toBe(1);
    expect(fade(50, 100)).toBeCloseTo(0.65);
    expect(fade(1e9, 100)).toBe(0.25);
  });
});

describe("drawing", () => {
  it("clusters single points, and draws the newest of other shapes", () => {
    const line = { type: "LineString" as const, coordinates: [] };
    const lines = many(3000).map((one) => ({ ...one, kind: "line" as const, geometry: line }));
    const { points, shapes } = parted([...many(10), ...lines]);
    expect(points).toHaveLength(10);
    expect(shapes).toHaveLength(2000);
    expect(shapes.at(-1)?.key).toBe("e2999");
  });

  const blue = (): Look => ({ c: "blue", o: 1 });

  it("tells the map only what changed", () => {
    const drawn = new DrawnFeatures();
    const events = many(100);
    expect(drawn.show(events, blue).diff.add).toHaveLength(100);
    expect(drawn.show(events, blue).size).toBe(0);
    const faded = (one: GeoEvent): Look => ({ c: "blue", o: one.id === "e7" ? 0.5 : 1 });
    const { diff, size } = drawn.show([...events.slice(2), event("new")], faded);
    expect(size).toBe(4);
    expect(diff.remove).toEqual(["e0", "e1"]);
    expect(diff.add.map(({ id }) => id)).toEqual(["new"]);
    expect(diff.update.map(({ id }) => id)).toEqual(["e7"]);
    expect(drawn.all.find(({ id }) => id === "e7")?.properties?.o).toBe(0.5);
  });

  it("puts an event that moved in its new place", () => {
    const drawn = new DrawnFeatures();
    drawn.show([event("ship")], blue);
    const there = { type: "Point" as const, coordinates: [5, 5] };
    const { diff } = drawn.show([{ ...event("ship"), geometry: there }], blue);
    expect(diff.add.map(({ geometry }) => geometry)).toEqual([there]);
    expect(diff.remove).toEqual([]);
  });
});

describe("colours", () => {
  it("of texts are categories", () => {
    const events = ["fire", "flood", "fire"].map((topic, at) => event(`e${at}`, 0, { topic }));
    const colouring = colouringBy("topic", events);
    expect(colouring.entries.map(({ label }) => label)).toEqual(["fire", "flood", "other"]);
    expect(colouring.of(event("x", 0, { topic: "fire" }))).toBe(CATEGORY_COLOURS[0]);
    expect(colouring.of(event("x"))).toBe(colouring.entries.at(-1)?.colour);
  });

  it("of numbers are a ramp", () => {
    const events = many(100).map((one, at) => ({ ...one, properties: { mag: at } }));
    const colouring = colouringBy("mag", events);
    expect(colouring.entries).toHaveLength(6);
    expect(colouring.of(event("x", 0, { mag: 1 }))).not.toBe(
      colouring.of(event("y", 0, { mag: 99 })),
    );
  });

  it("stay while they serve", () => {
    const of = (...topics: string[]) =>
      colouringBy(
        "topic",
        topics.map((topic, at) => event(`e${at}`, 0, { topic })),
      );
    const both = of("fire", "flood");
    expect(steady(both, of("flood"))).toBe(both);
    expect(steady(both, of("quake")).entries[0]?.label).toBe("quake");
    expect(steady(both, PLAIN)).toBe(PLAIN);
  });

  it("start with the topic", () => {
    expect(likelyAttribute([{ name: "mag" }, { name: "topic" }])).toBe("topic");
    expect(likelyAttribute([{ name: "mag" }, { name: "colour", values: ["a", "b"] }])).toBe(
      "colour",
    );
    expect(likelyAttribute([])).toBe("");
  });
});
