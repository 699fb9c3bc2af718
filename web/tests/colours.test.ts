import { describe, expect, it } from "vitest";
import { colouringBy, OTHER_COLOUR } from "../src/model/colours";
import type { GeoEvent } from "../src/model/events";

function event(properties: Record<string, unknown>): GeoEvent {
  const geometry = { type: "Point" as const, coordinates: [0, 0] };
  return { key: "", id: "", publisher: "", time: 0, kind: "point", geometry, properties };
}

describe("colours", () => {
  it("are of what most events have, not of what has most values", () => {
    const events = [...Array(20)].map(() => event({ topic: "quake" }));
    const found = colouringBy("topic", [...events, event({ topic: 7 }), event({ topic: 8 })]);
    expect(found.scale).toBe("categories");
    expect(found.of(event({ topic: "quake" }))).not.toBe(OTHER_COLOUR);
  });

  it("find attributes within objects", () => {
    const found = colouringBy("a.b", [event({ a: { b: "x" } }), event({ "a.b": "y" })]);
    expect(found.of(event({ a: { b: "x" } }))).not.toBe(OTHER_COLOUR);
    expect(found.of(event({ "a.b": "y" }))).not.toBe(OTHER_COLOUR);
    expect(found.of(event({ a: null }))).toBe(OTHER_COLOUR);
  });
});
