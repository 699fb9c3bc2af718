import { describe, expect, it } from "vitest";
import { KINDS, type Kind } from "../src/model/geometry";
import { isPossible, meaning, possible, RELATIONS, type Relation } from "../src/model/relations";
import { pictureOf } from "../src/ui/relation-picture";

// Event, area, and what can hold between two such single geometries.
const TABLE: [Kind, Kind, string][] = [
  ["point", "point", "intersects within coveredby contains covers equals disjoint"],
  ["point", "line", "intersects within coveredby touches disjoint"],
  ["point", "area", "intersects within coveredby touches disjoint"],
  ["line", "point", "intersects contains covers touches disjoint"],
  [
    "line",
    "line",
    "intersects within coveredby contains covers overlaps crosses touches equals disjoint",
  ],
  ["line", "area", "intersects within coveredby crosses touches disjoint"],
  ["area", "point", "intersects contains covers touches disjoint"],
  ["area", "line", "intersects contains covers crosses touches disjoint"],
  ["area", "area", "intersects within coveredby contains covers overlaps touches equals disjoint"],
];

describe("relations", () => {
  it.each(TABLE)("of a %s with a %s", (event, area, expected) => {
    expect(possible(event, area)).toEqual(expected.split(" "));
  });

  it("are ten", () => {
    expect(new Set(RELATIONS).size).toBe(10);
  });

  it("have a picture exactly where they are possible", () => {
    for (const event of KINDS)
      for (const area of KINDS)
        for (const relation of RELATIONS)
          expect(
            pictureOf(relation, event, area) !== undefined,
            `${event} ${relation} ${area}`,
          ).toBe(isPossible(relation, event, area));
  });

  it("say what they mean for the geometry types", () => {
    expect(meaning("within", "point", "area")).toContain("point lies inside");
    const all = RELATIONS.map((one: Relation) => meaning(one, "line", "line"));
    expect(new Set(all).size).toBe(10);
  });
});
