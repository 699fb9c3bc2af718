// Server-sent events read with fetch, because EventSource cannot send a token as a header.

export interface ServerEvent {
  id: string;
  event: string;
  data: string;
}

/** Takes text as it comes and returns the events that are complete. */
export class EventParser {
  retry = 1000;
  /** The id of the last event that was complete. */
  lastId = "";
  #id = "";
  #rest = "";
  #event = "";
  #data: string[] = [];

  /** Forget what was begun: another connection does not go on in the middle. */
  restart(): void {
    this.#rest = this.#event = "";
    this.#id = this.lastId;
    this.#data = [];
  }

  push(text: string): ServerEvent[] {
    const lines = (this.#rest + text).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? "";
    const found: ServerEvent[] = [];
    for (const line of lines) {
      const complete = this.#line(line);
      if (complete) found.push(complete);
    }
    return found;
  }

  #line(line: string): ServerEvent | null {
    if (line === "") return this.#dispatch();
    if (line.startsWith(":")) return null;
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "data") this.#data.push(value);
    else if (field === "event") this.#event = value;
    else if (field === "id") this.#id = value;
    else if (field === "retry" && /^\d+$/.test(value)) this.retry = Number(value);
    return null;
  }

  #dispatch(): ServerEvent | null {
    const data = this.#data.join("\n");
    const event = this.#event || "message";
    const empty = this.#data.length === 0;
    this.lastId = this.#id;
    this.#data = [];
    this.#event = "";
    return empty ? null : { id: this.lastId, event, data };
  }
}

export interface StreamOptions {
  url: string;
  headers: () => Record<string, string>;
  lastId?: string;
  onEvents(events: ServerEvent[]): void;
  onState(state: "open" | "waiting"): void;
  /** The service refuses the stream; trying again is of no use. */
  onRefused(status: number): void;
}

/** The service says something every 15 seconds; a stream that is silent for so long is dead. */
const LONGEST_SILENCE = 45_000;
const REFUSALS = new Set([400, 401, 403, 404, 422]);
const LONGEST_PAUSE = 15_000;

/** Follow a stream and connect again when it breaks, after what was seen; returns its end. */
export function follow(options: StreamOptions): () => void {
  const control = new AbortController();
  void run(options, control.signal);
  return () => control.abort();
}

async function run(options: StreamOptions, signal: AbortSignal): Promise<void> {
  const parser = new EventParser();
  parser.lastId = options.lastId ?? "";
  let failures = 0;
  while (!signal.aborted) {
    parser.restart();
    try {
      const answer = await open(options, parser.lastId, signal);
      if (answer.status === 422 && parser.lastId) {
        // The service does not know that place any more: it goes on from where it can.
        parser.lastId = "";
        continue;
      }
      if (REFUSALS.has(answer.status)) return options.onRefused(answer.status);
      if (answer.ok && answer.body) {
        failures = 0;
        options.onState("open");
        await read(answer.body, parser, options, signal);
      }
    } catch {
      if (signal.aborted) return;
    }
    if (signal.aborted) return;
    options.onState("waiting");
    await pause(Math.min(LONGEST_PAUSE, parser.retry * 2 ** failures++), signal);
  }
}

function open(options: StreamOptions, lastId: string, signal: AbortSignal): Promise<Response> {
  const headers: Record<string, string> = { ...options.headers(), Accept: "text/event-stream" };
  if (lastId) headers["Last-Event-ID"] = lastId;
  return fetch(options.url, { headers, signal, cache: "no-store" });
}

async function read(
  body: ReadableStream<Uint8Array>,
  parser: EventParser,
  options: StreamOptions,
  signal: AbortSignal,
): Promise<void> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  while (!signal.aborted) {
    const { done, value } = await heard(reader);
    if (done) return;
    const events = parser.push(decoder.decode(value, { stream: true }));
    if (events.length > 0) options.onEvents(events);
  }
}

/** What comes next; a connection that died without a word, as when a laptop slept, is given up. */
async function heard(reader: ReadableStreamDefaultReader<Uint8Array>) {
  const timer = setTimeout(() => void reader.cancel().catch(() => {}), LONGEST_SILENCE);
  try {
    return await reader.read();
  } finally {
    clearTimeout(timer);
  }
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal.addEventListener("abort", end);
  });
}
