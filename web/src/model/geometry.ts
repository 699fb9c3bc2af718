// What the page needs to know about geometries: their kind, their bounds, their outline.
import type { Geometry, Position } from "geojson";

/** The six geometry types that an event or an area can have. */
export type PlainGeometry = Exclude<Geometry, { type: "GeometryCollection" }>;

export type Kind = "point" | "line" | "area";

export const KINDS: readonly Kind[] = ["point", "line", "area"];

/** West, south, east, north. */
export type Bounds = [number, number, number, number];

const KIND_OF: Record<PlainGeometry["type"], Kind> = {
  Point: "point",
  MultiPoint: "point",
  LineString: "line",
  MultiLineString: "line",
  Polygon: "area",
  MultiPolygon: "area",
};

export function isPlain(value: unknown): value is PlainGeometry {
  const type = (value as { type?: string } | null)?.type;
  return type !== undefined && type in KIND_OF;
}

export function kindOf(geometry: PlainGeometry): Kind {
  return KIND_OF[geometry.type];
}

export function* positions(geometry: PlainGeometry): Generator<Position> {
  yield* flat(geometry.coordinates as Nested);
}

type Nested = Position | Nested[];

function* flat(nested: Nested): Generator<Position> {
  if (!Array.isArray(nested[0])) yield nested as Position;
  else for (const part of nested as Nested[]) yield* flat(part);
}

export function boundsOf(geometry: PlainGeometry): Bounds {
  return boxOf(positions(geometry));
}

function boxOf(places: Iterable<Position>): Bounds {
  const found: Bounds = [Infinity, Infinity, -Infinity, -Infinity];
  for (const [x = 0, y = 0] of places) {
    found[0] = Math.min(found[0], x);
    found[1] = Math.min(found[1], y);
    found[2] = Math.max(found[2], x);
    found[3] = Math.max(found[3], y);
  }
  return found;
}

/** The bounds to look at: where parts are nearer across the antimeridian, east is beyond 180. */
export function viewOf(geometry: PlainGeometry): Bounds {
  const plain = boundsOf(geometry);
  if (!geometry.type.startsWith("Multi")) return plain;
  const corners = (geometry.coordinates as Nested[]).flatMap((part): Position[] => {
    const [west, south, east, north] = boxOf(flat(part));
    const turn = east <= 0 ? 360 : 0;
    return [
      [west + turn, south],
      [east + turn, north],
    ];
  });
  const across = boxOf(corners);
  return across[2] - across[0] < plain[2] - plain[0] ? across : plain;
}

/** A place to point at: the middle of the bounds. */
export function middleOf(geometry: PlainGeometry): [number, number] {
  const [west, south, east, north] = viewOf(geometry);
  const x = (west + east) / 2;
  return [x > 180 ? x - 360 : x, (south + north) / 2];
}

/** A rectangle; west greater than east lies across the antimeridian and becomes two parts. */
export function rectangle([west, south, east, north]: Bounds): PlainGeometry {
  const ring = (left: number, right: number): Position[] => [
    [left, south],
    [right, south],
    [right, north],
    [left, north],
    [left, south],
  ];
  if (west <= east) return { type: "Polygon", coordinates: [ring(west, east)] };
  return { type: "MultiPolygon", coordinates: [[ring(west, 180)], [ring(-180, east)]] };
}

/** A drawing with longitudes in [-180, 180]: one across the antimeridian becomes two parts. */
export function unwrapped(geometry: PlainGeometry): PlainGeometry {
  const [west, , east] = boundsOf(geometry);
  if (west >= -180 && east <= 180) return geometry;
  const turns = Math.floor((west + 180) / 360);
  const moved = (position: Position): Position => [
    (position[0] ?? 0) - 360 * turns,
    position[1] ?? 0,
  ];
  switch (geometry.type) {
    case "Point":
      return { type: "Point", coordinates: moved(geometry.coordinates) };
    case "LineString":
      return parted("MultiLineString", "LineString", cutLine(geometry.coordinates.map(moved)));
    case "Polygon":
      return parted("MultiPolygon", "Polygon", cutRing(geometry.coordinates[0]?.map(moved) ?? []));
    default:
      return geometry;
  }
}

function parted(many: string, one: string, parts: unknown[]): PlainGeometry {
  const several = parts.length > 1;
  return { type: several ? many : one, coordinates: several ? parts : parts[0] } as PlainGeometry;
}

/** Where the way between two positions meets the antimeridian. */
function crossing([x1 = 0, y1 = 0]: Position, [x2 = 0, y2 = 0]: Position): Position {
  return [180, y1 + ((180 - x1) / (x2 - x1)) * (y2 - y1)];
}

const isEast = ([x = 0]: Position): boolean => x > 180;
const back = ([x = 0, y = 0]: Position): Position => [x - 360, y];

/** The parts of a line of longitudes in [-180, 540) on either side of the antimeridian. */
function cutLine(line: Position[]): Position[][] {
  const parts: Position[][] = [[]];
  line.forEach((position, at) => {
    const before = line[at - 1];
    if (before && isEast(before) !== isEast(position)) {
      const border = crossing(before, position);
      parts.at(-1)?.push(isEast(before) ? back(border) : border);
      parts.push([isEast(position) ? back(border) : border]);
    }
    parts.at(-1)?.push(isEast(position) ? back(position) : position);
  });
  return parts.filter((part) => part.length > 1);
}

/** The parts of a ring likewise, each a polygon; cut as Sutherland and Hodgman do. */
function cutRing(ring: Position[]): Position[][][] {
  const sides = [false, true].map((east) => {
    const kept: Position[] = [];
    ring.slice(1).forEach((position, at) => {
      const before = ring[at] as Position;
      if (isEast(before) !== isEast(position)) kept.push(crossing(before, position));
      if (isEast(position) === east) kept.push(position);
    });
    const side = east ? kept.map(back) : kept;
    return side[0] ? [...side, side[0]] : [];
  });
  return sides.filter((side) => side.length > 3).map((side) => [side]);
}

const NAMES: Record<PlainGeometry["type"], string> = {
  Point: "Point",
  MultiPoint: "Points",
  LineString: "Line",
  MultiLineString: "Lines",
  Polygon: "Polygon",
  MultiPolygon: "Polygons",
};

/** A geometry in few words: its name and where it is. */
export function describe(geometry: PlainGeometry): string {
  const [x, y] = middleOf(geometry);
  const count = [...positions(geometry)].length;
  const place = `${Math.abs(y).toFixed(1)}°${y < 0 ? "S" : "N"} ${Math.abs(x).toFixed(1)}°${x < 0 ? "W" : "E"}`;
  const size = count > 5 ? `, ${count} vertices` : "";
  return `${NAMES[geometry.type]} at ${place}${size}`;
}
