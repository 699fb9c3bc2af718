// What the service says when it refuses.

interface ProblemDocument {
  status?: number;
  detail?: string;
  title?: string;
  position?: number | string | null;
}

export class Problem extends Error {
  constructor(
    message: string,
    readonly status: number,
    /** The offset in the filter's text where it cannot be understood. */
    readonly position: number | null = null,
  ) {
    super(message);
  }
}

export function problemOf(error: unknown, status: number): Problem {
  const { detail, title, position } = (error ?? {}) as ProblemDocument;
  const text = detail ?? title ?? (status ? `The service answered ${status}.` : "");
  return new Problem(sentence(text), status, placeOf(position, text));
}

/** The service's reasons are parts of sentences; people read whole ones. */
export function sentence(text: string): string {
  const trimmed = text.trim();
  const whole = trimmed.charAt(0).toUpperCase() + trimmed.slice(1);
  return whole === "" || /[.!?…]$/.test(whole) ? whole : `${whole}.`;
}

function placeOf(position: number | string | null | undefined, text: string): number | null {
  if (typeof position === "number") return position;
  const told = /at position (\d+)/.exec(text);
  return told ? Number(told[1]) : null;
}

/** Why something failed, for people. */
export function wordsFor(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
