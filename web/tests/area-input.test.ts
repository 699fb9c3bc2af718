import { describe, expect, it } from "vitest";
import { InputError, readArea } from "../src/model/area-input";
import { boundsOf, rectangle, unwrapped } from "../src/model/geometry";

const SQUARE = "POLYGON((8 47, 9 47, 9 48, 8 48, 8 47))";

describe("an area", () => {
  it.each([
    [SQUARE, "Polygon"],
    ["SRID=4326;POINT(8 47)", "Point"],
    ["LINESTRING(8 47, 9 48)", "LineString"],
    ["5.9, 45.8, 10.5, 47.8", "Polygon"],
    ["170 -20 -170 -10", "MultiPolygon"],
    ["8.5, 47.4", "Point"],
    ['{"type":"Point","coordinates":[8,47]}', "Point"],
    ['{"type":"Feature","geometry":{"type":"Point","coordinates":[8,47]}}', "Point"],
    [
      '{"type":"FeatureCollection","features":[{"type":"Feature","geometry":{"type":"Point","coordinates":[8,47]}}]}',
      "Point",
    ],
  ])("%s is understood", (text, type) => {
    expect(readArea(text).type).toBe(type);
  });

  it.each([
    ["", /Paste/],
    ["{", /not JSON/],
    ["POLYGON((", /neither GeoJSON nor WKT/],
    ["hello", /neither GeoJSON nor WKT/],
    ["1, 2, 3", /four numbers; here are 3/],
    ["1, 5, 3, 2", /South/],
    ["POINT(200 10)", /Longitude 200/],
    ["POINT(20 95)", /Latitude 95/],
    ["GEOMETRYCOLLECTION(POINT(1 1), POINT(2 2))", /this collection has 2|no point/],
    ['{"type":"FeatureCollection","features":[]}', /this collection has 0/],
    ['{"type":"Point","coordinates":["a",1]}', /not a number/],
    ['{"hello":1}', /no point, line or polygon/],
    ['{"type":"LineString","coordinates":[[0,0]]}', /A line needs 2 positions/],
    ['{"type":"Polygon","coordinates":[[[0,0],[1,1]]]}', /A ring of a polygon needs 4/],
    ['{"type":"Point","coordinates":[[1,2]]}', /not the coordinates of a Point/],
    ['{"type":"MultiPolygon","coordinates":[[0,0]]}', /not the coordinates of a MultiPolygon/],
  ])("%s is refused in words", (text, words) => {
    expect(() => readArea(text)).toThrow(InputError);
    expect(() => readArea(text)).toThrow(words);
  });
});

describe("geometries", () => {
  it("have bounds", () => {
    expect(boundsOf(readArea(SQUARE))).toEqual([8, 47, 9, 48]);
    expect(readArea("GEOMETRYCOLLECTION(POINT(8 47))").type).toBe("Point");
  });

  it("across the antimeridian are two", () => {
    const { coordinates } = rectangle([170, -20, -170, -10]) as { coordinates: unknown[] };
    expect(coordinates).toHaveLength(2);
  });

  it("drawn on another turn of the world come back", () => {
    expect(unwrapped({ type: "Point", coordinates: [370, 10] })).toEqual({
      type: "Point",
      coordinates: [10, 10],
    });
  });
});
