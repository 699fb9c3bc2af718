// Conditions on attributes as rows of a form, written as CQL2 text.

export type ValueType = "number" | "text" | "boolean";

export const COMPARISONS = [
  "=",
  "<>",
  "<",
  "<=",
  ">",
  ">=",
  "contains",
  "starts",
  "in",
  "true",
  "false",
  "present",
  "missing",
] as const;

export type Comparison = (typeof COMPARISONS)[number];

export interface Condition {
  attribute: string;
  comparison: Comparison;
  value: string;
  /** What the value was written as, where it was read from a filter. */
  literal?: "number" | "text";
}

export type Join = "AND" | "OR";

export const COMPARISON_LABELS: Record<Comparison, string> = {
  "=": "is",
  "<>": "is not",
  "<": "less than",
  "<=": "at most",
  ">": "more than",
  ">=": "at least",
  contains: "contains",
  starts: "starts with",
  in: "one of",
  true: "is true",
  false: "is false",
  present: "is there",
  missing: "is missing",
};

const FITTING: Record<ValueType, Comparison[]> = {
  number: [">=", ">", "<=", "<", "=", "<>", "in", "present", "missing"],
  text: ["=", "<>", "contains", "starts", "in", "present", "missing"],
  boolean: ["true", "false", "present", "missing"],
};

/** The comparisons that make sense for values of these types, the likeliest first. */
export function comparisonsFor(types: readonly ValueType[]): Comparison[] {
  if (types.length === 0) return [...COMPARISONS];
  return [...new Set(types.flatMap((type) => FITTING[type]))];
}

export function needsValue(comparison: Comparison): boolean {
  return !["true", "false", "present", "missing"].includes(comparison);
}

const KEYWORDS = new Set(
  "and or not in like between is null true false casei accenti date timestamp interval div point linestring polygon multipoint multilinestring multipolygon geometrycollection bbox".split(
    " ",
  ),
);

export function writeName(name: string): string {
  const plain = /^[\p{L}_:][\p{L}\p{N}_:.]*$/u.test(name) && !KEYWORDS.has(name.toLowerCase());
  return plain ? name : `"${name.replaceAll('"', '""')}"`;
}

export function writeText(value: string): string {
  return `'${value.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
}

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** A value as CQL2: a number if it is one and the attribute has numbers, else text. */
export function writeValue(value: string, types: readonly ValueType[]): string {
  const trimmed = value.trim();
  const numeric = NUMBER.test(trimmed) && (types.length === 0 || types.includes("number"));
  return numeric ? String(Number(trimmed)) : writeText(trimmed);
}

function pattern(value: string): string {
  return value.replace(/[\\%_]/g, "\\$&");
}

export function writeCondition(row: Condition, seen: readonly ValueType[] = []): string {
  const name = writeName(row.attribute);
  const types = row.literal ? [row.literal] : seen;
  switch (row.comparison) {
    case "true":
      return `${name} = TRUE`;
    case "false":
      return `${name} = FALSE`;
    case "present":
      return `${name} IS NOT NULL`;
    case "missing":
      return `${name} IS NULL`;
    case "contains":
      return `CASEI(${name}) LIKE CASEI(${writeText(`%${pattern(row.value)}%`)})`;
    case "starts":
      return `CASEI(${name}) LIKE CASEI(${writeText(`${pattern(row.value)}%`)})`;
    case "in": {
      const parts = row.value.split(",").map((part) => part.trim());
      const kept = parts.filter((part) => part !== "");
      const allowed = kept.every((part) => NUMBER.test(part)) ? types : (["text"] as const);
      return `${name} IN (${kept.map((part) => writeValue(part, allowed)).join(", ")})`;
    }
    default:
      return `${name} ${row.comparison} ${writeValue(row.value, types)}`;
  }
}

export type TypesOf = (attribute: string) => readonly ValueType[];

/** The filter that the rows say; rows without an attribute or a needed value say nothing. */
export function writeFilter(rows: readonly Condition[], join: Join, types: TypesOf): string {
  return rows
    .filter((row) => row.attribute !== "" && (!needsValue(row.comparison) || row.value.trim()))
    .map((row) => writeCondition(row, types(row.attribute)))
    .join(` ${join} `);
}
