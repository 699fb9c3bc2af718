// Colours of events by an attribute: categories for text, a ramp for numbers.
import type { GeoEvent } from "./events";

/** Okabe and Ito's colours, which people who see colours differently can tell apart. */
export const CATEGORY_COLOURS = [
  "#0072b2",
  "#e69f00",
  "#009e73",
  "#cc79a7",
  "#d55e00",
  "#56b4e9",
  "#8f6bd0",
] as const;
export const OTHER_COLOUR = "#7d8794";
export const SINGLE_COLOUR = "#0b6ff0";
export const RAMP_COLOURS = ["#3b6fb6", "#39a3a3", "#8fbf4d", "#f0b323", "#d9482b"] as const;

export interface Entry {
  label: string;
  colour: string;
}

export interface Colouring {
  attribute: string;
  scale: "single" | "categories" | "ramp";
  /** How many values it was made from. */
  basis: number;
  entries: Entry[];
  of(event: GeoEvent): string;
}

export const PLAIN: Colouring = {
  attribute: "",
  scale: "single",
  basis: 0,
  entries: [{ label: "All events", colour: SINGLE_COLOUR }],
  of: () => SINGLE_COLOUR,
};

/** The colouring before while it still serves, so that colours do not jump as events arrive. */
export function steady(before: Colouring, next: Colouring): Colouring {
  if (before.attribute !== next.attribute || before.scale !== next.scale) return next;
  if (next.scale === "ramp") return next.basis > 2 * before.basis ? next : before;
  const known = new Set(before.entries.map(({ label }) => label));
  return next.entries.every(({ label }) => known.has(label)) ? before : next;
}

/** Colours for an attribute, from the values that the events have. */
export function colouringBy(attribute: string, events: Iterable<GeoEvent>): Colouring {
  if (attribute === "") return PLAIN;
  const counts = new Map<string, number>();
  const numbers: number[] = [];
  let texts = 0;
  for (const { properties } of events) {
    const value = attributeValue(properties, attribute);
    if (typeof value === "number") numbers.push(value);
    else if (typeof value === "string" || typeof value === "boolean") {
      texts++;
      counts.set(String(value), (counts.get(String(value)) ?? 0) + 1);
    }
  }
  if (numbers.length > texts) return byNumber(attribute, numbers);
  return byCategory(attribute, counts);
}

function byCategory(attribute: string, counts: Map<string, number>): Colouring {
  const names = [...counts].sort((a, b) => b[1] - a[1]).slice(0, CATEGORY_COLOURS.length);
  const sorted = names.map(([name]) => name).sort((a, b) => a.localeCompare(b));
  const colours = new Map(sorted.map((name, at) => [name, CATEGORY_COLOURS[at] ?? OTHER_COLOUR]));
  const entries = [...colours].map(([label, colour]) => ({ label, colour: String(colour) }));
  return {
    attribute,
    scale: "categories",
    basis: counts.size,
    entries: [...entries, { label: "other", colour: OTHER_COLOUR }],
    of: (event) => colours.get(String(attributeValue(event.properties, attribute))) ?? OTHER_COLOUR,
  };
}

function byNumber(attribute: string, numbers: number[]): Colouring {
  const sorted = numbers.toSorted((a, b) => a - b);
  const steps = RAMP_COLOURS.length;
  const edges = Array.from({ length: steps - 1 }, (_, at) => {
    const place = Math.floor(((at + 1) / steps) * sorted.length);
    return sorted[Math.min(place, sorted.length - 1)] ?? 0;
  }).filter((edge, at, all) => at === 0 || edge > (all[at - 1] ?? 0));
  const colourOf = (value: number): string => {
    const place = edges.filter((edge) => value >= edge).length;
    return RAMP_COLOURS[place] ?? OTHER_COLOUR;
  };
  const label = (at: number): string => {
    if (at === 0) return `below ${short(edges[0] ?? 0)}`;
    if (at === edges.length) return `${short(edges[at - 1] ?? 0)} and more`;
    return `${short(edges[at - 1] ?? 0)} – ${short(edges[at] ?? 0)}`;
  };
  const entries = Array.from({ length: edges.length + 1 }, (_, at) => ({
    label: label(at),
    colour: RAMP_COLOURS[at] ?? OTHER_COLOUR,
  }));
  return {
    attribute,
    scale: "ramp",
    basis: numbers.length,
    entries: [...entries, { label: "not given", colour: OTHER_COLOUR }],
    of: ({ properties }) => {
      const value = attributeValue(properties, attribute);
      return typeof value === "number" ? colourOf(value) : OTHER_COLOUR;
    },
  };
}

/** The value of an attribute by its name; that of one within an object is `outer.inner`. */
function attributeValue(properties: Record<string, unknown>, attribute: string): unknown {
  if (attribute in properties) return properties[attribute];
  let found: unknown = properties;
  for (const part of attribute.split(".")) {
    if (typeof found !== "object" || found === null) return undefined;
    found = (found as Record<string, unknown>)[part];
  }
  return found;
}

function short(value: number): string {
  return Number(value.toPrecision(3)).toLocaleString("en");
}

/** The attribute to colour by at first: the topic, a kind, or the first with few values. */
export function likelyAttribute(
  known: readonly { name: string; values?: unknown[] | null }[],
): string {
  for (const name of ["topic", "phenomenon", "type", "kind", "category"])
    if (known.some((attribute) => attribute.name === name)) return name;
  const few = known.find(({ values }) => values && values.length > 1 && values.length < 9);
  return few?.name ?? "";
}
