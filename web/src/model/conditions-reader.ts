// Reads back the CQL2 text that the form of conditions writes; any other text stays text.
import { type Comparison, type Condition, type Join, writeFilter } from "./conditions";

const NAME = String.raw`("(?:[^"]|"")+"|[\p{L}_:][\p{L}\p{N}_:.]*)`;
const TEXT = "'(?:[^']|'')*'";
const VALUE = String.raw`(${TEXT}|[+-]?[\d.]+(?:e[+-]?\d+)?)`;

function form(pattern: string): RegExp {
  return new RegExp(`^${pattern}$`, "u");
}

const COMPARE = form(`${NAME} (<>|<=|>=|=|<|>) ${VALUE}`);
const TRUTH = form(`${NAME} = (TRUE|FALSE)`);
const NULLITY = form(`${NAME} IS (NOT )?NULL`);
const LIKE = form(`CASEI\\(${NAME}\\) LIKE CASEI\\((${TEXT})\\)`);
const IN = form(`${NAME} IN \\((.+)\\)`);

function name(written: string): string {
  return written.startsWith('"') ? written.slice(1, -1).replaceAll('""', '"') : written;
}

function value(written: string): string {
  if (!written.startsWith("'")) return written;
  return written.slice(1, -1).replaceAll("''", "'").replaceAll("\\\\", "\\");
}

function readLike(attribute: string, written: string): Condition | null {
  const text = value(written);
  if (!text.endsWith("%")) return null;
  const anywhere = text.startsWith("%");
  const kept = text.slice(anywhere ? 1 : 0, -1).replace(/\\([\\%_])/g, "$1");
  return { attribute, comparison: anywhere ? "contains" : "starts", value: kept };
}

function readOne(text: string): Condition | null {
  let found = TRUTH.exec(text);
  if (found) return row(found[1], found[2] === "TRUE" ? "true" : "false");
  found = NULLITY.exec(text);
  if (found) return row(found[1], found[2] ? "present" : "missing");
  found = COMPARE.exec(text);
  if (found) return compared(found[1], found[2] as Comparison, [found[3] ?? ""]);
  found = LIKE.exec(text);
  if (found) return readLike(name(found[1] ?? ""), found[2] ?? "");
  found = IN.exec(text);
  if (found) return compared(found[1], "in", parts(found[2] ?? "", ", "));
  return null;
}

function compared(
  attribute: string | undefined,
  comparison: Comparison,
  values: string[],
): Condition {
  const literal = values.every((written) => written.startsWith("'")) ? "text" : "number";
  return { ...row(attribute, comparison, values.map(value).join(", ")), literal };
}

function row(attribute: string | undefined, comparison: Comparison, text = ""): Condition {
  return { attribute: name(attribute ?? ""), comparison, value: text };
}

/** Parts between separators that stand outside of quotes. */
function parts(text: string, separator: string): string[] {
  const found: string[] = [];
  let start = 0;
  let quote = "";
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? "";
    if (quote) quote = character === quote ? "" : quote;
    else if (character === "'" || character === '"') quote = character;
    else if (text.startsWith(separator, at)) {
      found.push(text.slice(start, at));
      start = at + separator.length;
      at = start - 1;
    }
  }
  return [...found, text.slice(start)];
}

/** Whether the form would write the same again; only then can it take the place of the text. */
function isSame(rows: readonly Condition[], join: Join, text: string): boolean {
  return writeFilter(rows, join, () => []) === text;
}

/** The rows that say this filter, or null where the form cannot show it as it is. */
export function readFilter(text: string): { rows: Condition[]; join: Join } | null {
  if (text.trim() === "") return { rows: [], join: "AND" };
  for (const join of ["AND", "OR"] as const) {
    const rows = parts(text, ` ${join} `).map(readOne);
    if (rows.every((found) => found !== null) && isSame(rows, join, text)) return { rows, join };
  }
  return null;
}
