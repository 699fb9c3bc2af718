// Values of attributes as people type them.

/** A number, true, false, nothing, JSON in brackets, else the text itself. */
export function readValue(text: string): unknown {
  const trimmed = text.trim();
  if (trimmed === "true" || trimmed === "false") return trimmed === "true";
  if (trimmed !== "" && Number.isFinite(Number(trimmed)) && !/^0\d/.test(trimmed))
    return Number(trimmed);
  if (/^[[{"]/.test(trimmed)) {
    try {
      return JSON.parse(trimmed);
    } catch {
      return trimmed;
    }
  }
  return trimmed;
}

export interface Row {
  name: string;
  value: string;
}

export function readRows(rows: readonly Row[]): Record<string, unknown> {
  const named = rows.filter(({ name }) => name.trim() !== "");
  return Object.fromEntries(named.map(({ name, value }) => [name.trim(), readValue(value)]));
}
