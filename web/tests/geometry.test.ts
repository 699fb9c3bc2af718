import { describe, expect, it } from "vitest";
import {
  boundsOf,
  describe as described,
  type PlainGeometry,
  positions,
  rectangle,
  unwrapped,
  viewOf,
} from "../src/model/geometry";

function ring(west: number, south: number, east: number, north: number): PlainGeometry {
  const corners = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ];
  return { type: "Polygon", coordinates: [corners] };
}

/** Twice the area of all rings, as the shoelace formula gives it. */
function extent(geometry: PlainGeometry): number {
  const polygons =
    geometry.type === "MultiPolygon"
      ? geometry.coordinates
      : [geometry.coordinates as number[][][]];
  let sum = 0;
  for (const [outline = []] of polygons)
    outline.slice(1).forEach(([x2 = 0, y2 = 0], at) => {
      const [x1 = 0, y1 = 0] = outline[at] ?? [];
      sum += x1 * y2 - x2 * y1;
    });
  return Math.abs(sum);
}

describe("a drawing", () => {
  it("within the world stays as it is", () => {
    const drawn = ring(170, -5, 180, 5);
    expect(unwrapped(drawn)).toBe(drawn);
  });

  it.each([
    [170, 190],
    [-190, -170],
    [530, 550],
  ])("from %d to %d has a part on either side of the antimeridian", (west, east) => {
    const found = unwrapped(ring(west, -5, east, 5));
    expect(found.type).toBe("MultiPolygon");
    expect(extent(found)).toBeCloseTo(2 * 20 * 10);
    const sides = (found.coordinates as number[][][][]).map((part) =>
      boundsOf({ type: "Polygon", coordinates: part }),
    );
    expect(sides).toEqual([
      [170, -5, 180, 5],
      [-180, -5, -170, 5],
    ]);
  });

  it.each([
    [190, 200, -170, -160],
    [-200, -190, 160, 170],
    [365, 370, 5, 10],
  ])("from %d to %d on the world's next copy comes back as one", (west, east, left, right) => {
    const found = unwrapped(ring(west, 1, east, 2));
    expect(found.type).toBe("Polygon");
    expect(boundsOf(found)).toEqual([left, 1, right, 2]);
  });

  it("of a line is cut where it crosses", () => {
    const line: PlainGeometry = {
      type: "LineString",
      coordinates: [
        [170, 0],
        [190, 20],
        [170, 40],
      ],
    };
    expect(unwrapped(line)).toEqual({
      type: "MultiLineString",
      coordinates: [
        [
          [170, 0],
          [180, 10],
        ],
        [
          [-180, 10],
          [-170, 20],
          [-180, 30],
        ],
        [
          [180, 30],
          [170, 40],
        ],
      ],
    });
  });

  it("of a point comes back", () => {
    expect(unwrapped({ type: "Point", coordinates: [190, 3] })).toEqual({
      type: "Point",
      coordinates: [-170, 3],
    });
  });

  it("of a circle over the antimeridian loses nothing", () => {
    const outline = Array.from({ length: 65 }, (_, at) => {
      const angle = (at % 64) * (Math.PI / 32);
      return [178 + 6 * Math.cos(angle), 6 * Math.sin(angle)];
    });
    const circle: PlainGeometry = { type: "Polygon", coordinates: [outline] };
    const found = unwrapped(circle);
    expect(extent(found)).toBeCloseTo(extent(circle));
    expect([...positions(found)].every(([x = 0]) => Math.abs(x) <= 180)).toBe(true);
  });
});

describe("the bounds to look at", () => {
  it("are narrow across the antimeridian", () => {
    const fiji = rectangle([170, -20, -170, 10]);
    expect(viewOf(fiji)).toEqual([170, -20, 190, 10]);
    expect(described(fiji)).toContain("5.0°S 180.0°E");
    expect(viewOf(rectangle([175, -20, -150, 10]))).toEqual([175, -20, 210, 10]);
    expect(described(rectangle([175, -20, -150, 10]))).toContain("5.0°S 167.5°W");
  });

  it("are the plain ones elsewhere", () => {
    expect(viewOf(rectangle([-10, -20, 30, 10]))).toEqual([-10, -20, 30, 10]);
    expect(viewOf(rectangle([-180, -90, 180, 90]))).toEqual([-180, -90, 180, 90]);
  });
});
