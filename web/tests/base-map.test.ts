import { describe, expect, it } from "vitest";
import coarse from "../src/generated/countries-110m.json";

interface Country {
  properties: { name: string; label: number[] };
  geometry: { type: string; coordinates: unknown };
}

const countries = coarse.features as Country[];

describe("the built-in base map", () => {
  it("has the countries with names and labels", () => {
    const names = countries.map(({ properties }) => properties.name);
    expect(names.length).toBeGreaterThan(170);
    expect(names).toContain("Switzerland");
  });

  it("is cut at the antimeridian: no edge runs around the world", () => {
    const edges = (nested: unknown): number[] => {
      const list = nested as number[][] | unknown[];
      if (typeof (list[0] as number[])[0] !== "number") return list.flatMap(edges);
      const ring = list as number[][];
      return ring.slice(1).map((point, at) => Math.abs((point[0] ?? 0) - (ring[at]?.[0] ?? 0)));
    };
    const antarctica = (name: string) => name === "Antarctica";
    for (const { properties, geometry } of countries)
      if (!antarctica(properties.name))
        expect(Math.max(...edges(geometry.coordinates)), properties.name).toBeLessThan(90);
  });
});
