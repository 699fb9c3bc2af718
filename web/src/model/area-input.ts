// Reads an area that somebody pasted or typed: GeoJSON, well-known text, or a bounding box.
import { wktToGeoJSON } from "betterknown";
import { type Bounds, isPlain, type PlainGeometry, positions, rectangle } from "./geometry";

/** What was typed cannot be used; the message says why, for the person who typed it. */
export class InputError extends Error {}

export function readArea(text: string): PlainGeometry {
  const trimmed = text.trim();
  if (trimmed === "")
    throw new InputError("Paste GeoJSON or WKT, or type west, south, east, north.");
  if (trimmed.startsWith("{")) return checked(fromJson(trimmed));
  if (/^[-+\d.]/.test(trimmed)) return checked(fromBounds(trimmed));
  return checked(inner(fromText(trimmed)));
}

function fromBounds(text: string): PlainGeometry {
  const numbers = text.split(/[\s,;]+/).map(Number);
  if (numbers.some((value) => !Number.isFinite(value)))
    throw new InputError("A bounding box is four numbers: west, south, east, north.");
  if (numbers.length === 2) return { type: "Point", coordinates: numbers };
  if (numbers.length !== 4)
    throw new InputError(`A bounding box is four numbers; here are ${numbers.length}.`);
  const [, south = 0, , north = 0] = numbers;
  if (south >= north) throw new InputError("South must be less than north.");
  return rectangle(numbers as Bounds);
}

function fromJson(text: string): unknown {
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch (error) {
    throw new InputError(`This is not JSON: ${(error as Error).message}`);
  }
  return inner(found);
}

interface JsonObject {
  type?: string;
  geometry?: unknown;
  features?: unknown[];
  geometries?: unknown[];
}

/** The one geometry inside of a Feature or a collection of one. */
function inner(found: unknown): unknown {
  const value = found as JsonObject | null;
  if (value?.type === "Feature") return inner(value.geometry);
  const members = value?.features ?? value?.geometries;
  if (!members) return found;
  if (members.length !== 1)
    throw new InputError(`One geometry is needed; this collection has ${members.length}.`);
  return inner(members[0]);
}

function fromText(text: string): unknown {
  try {
    return wktToGeoJSON(text.replace(/^SRID=\d+;/i, ""));
  } catch (error) {
    throw new InputError(`This is neither GeoJSON nor WKT: ${(error as Error).message}`);
  }
}

/** How deep positions lie in each other's lists. */
const DEPTHS: Record<PlainGeometry["type"], number> = {
  Point: 1,
  MultiPoint: 2,
  LineString: 2,
  MultiLineString: 3,
  Polygon: 3,
  MultiPolygon: 4,
};

function depthOf(nested: unknown): number {
  return Array.isArray(nested) ? 1 + depthOf(nested[0]) : 0;
}

/** Lines have two positions, rings four: what has fewer cannot even be drawn. */
function checkLines(found: PlainGeometry): void {
  const [lines, needed, what] = linesOf(found);
  for (const line of lines)
    if (!Array.isArray(line) || line.length < needed)
      throw new InputError(`${what} needs ${needed} positions or more.`);
}

function linesOf(found: PlainGeometry): [unknown[], number, string] {
  switch (found.type) {
    case "LineString":
      return [[found.coordinates], 2, "A line"];
    case "MultiLineString":
      return [found.coordinates, 2, "A line"];
    case "Polygon":
      return [found.coordinates, 4, "A ring of a polygon"];
    case "MultiPolygon":
      return [found.coordinates.flat(), 4, "A ring of a polygon"];
    default:
      return [[], 0, ""];
  }
}

function checked(found: unknown): PlainGeometry {
  if (!isPlain(found)) throw new InputError("There is no point, line or polygon in this.");
  if (!Array.isArray(found.coordinates) || found.coordinates.length === 0)
    throw new InputError("This geometry is empty.");
  if (depthOf(found.coordinates) !== DEPTHS[found.type])
    throw new InputError(`These are not the coordinates of a ${found.type}.`);
  checkLines(found);
  for (const position of positions(found)) {
    const [x, y] = Array.isArray(position) ? position : [];
    if (typeof x !== "number" || typeof y !== "number")
      throw new InputError("A coordinate is not a number.");
    if (Math.abs(x) > 180) throw new InputError(`Longitude ${x} is outside of ±180.`);
    if (Math.abs(y) > 90) throw new InputError(`Latitude ${y} is outside of ±90.`);
  }
  return found;
}
