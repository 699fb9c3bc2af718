// The ten spatial relations, always read "event RELATION area", and which of them are possible.
//
// Which relations two geometries can have depends on their dimensions alone (a point has 0, a
// line 1, an area 2), except that single points can neither cross nor overlap anything:
//
//   equals            both have the same dimension
//   within, coveredby the event's dimension is not the greater one
//   contains, covers  the event's dimension is not the smaller one
//   touches           not two points: points have no boundary that could be touched
//   crosses           the dimensions differ, or both are lines; not with a single point
//   overlaps          lines with lines, areas with areas
//   intersects, disjoint  always
import type { Kind } from "./geometry";

export const RELATIONS = [
  "intersects",
  "within",
  "coveredby",
  "contains",
  "covers",
  "overlaps",
  "crosses",
  "touches",
  "equals",
  "disjoint",
] as const;

export type Relation = (typeof RELATIONS)[number];

const DIMENSION: Record<Kind, number> = { point: 0, line: 1, area: 2 };

export function isPossible(relation: Relation, event: Kind, area: Kind): boolean {
  const a = DIMENSION[event];
  const b = DIMENSION[area];
  switch (relation) {
    case "intersects":
    case "disjoint":
      return true;
    case "equals":
      return a === b;
    case "within":
    case "coveredby":
      return a <= b;
    case "contains":
    case "covers":
      return a >= b;
    case "touches":
      return a + b > 0;
    case "overlaps":
      return a === b && a > 0;
    case "crosses":
      return a > 0 && b > 0 && (a !== b || a === 1);
  }
}

export function possible(event: Kind, area: Kind): Relation[] {
  return RELATIONS.filter((relation) => isPossible(relation, event, area));
}

const MEANING: Record<Relation, string> = {
  intersects: "has at least one place in common with",
  within: "lies inside, not only on the edge of,",
  coveredby: "lies inside or on the edge of",
  contains: "has inside it, not only on its edge,",
  covers: "has inside it or on its edge",
  overlaps: "shares some of its extent with, neither inside the other,",
  crosses: "runs partly inside and partly outside",
  touches: "meets only the edge of",
  equals: "is exactly the same as",
  disjoint: "has nothing in common with",
};

const NOUN: Record<Kind, string> = { point: "point", line: "line", area: "area" };

/** What a relation means for the two geometry types at hand. */
export function meaning(relation: Relation, event: Kind, area: Kind): string {
  const own = area === "area" ? "your area" : `your ${NOUN[area]}`;
  if (relation === "crosses" && event === area) return `The line cuts through ${own}`;
  if (relation === "touches" && area === "line" && event === "point")
    return "The point is an end of your line";
  return `The ${NOUN[event]} ${MEANING[relation]} ${own}`;
}

export const LABELS: Record<Relation, string> = {
  intersects: "intersects",
  within: "within",
  coveredby: "covered by",
  contains: "contains",
  covers: "covers",
  overlaps: "overlaps",
  crosses: "crosses",
  touches: "touches",
  equals: "equals",
  disjoint: "disjoint",
};
