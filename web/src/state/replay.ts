// Events of a past moment, from the log where the page does not have them any more.
import { answer, service } from "../api/client";
import { EventStore, type GeoEvent } from "../model/events";
import { events, readAll } from "./live";
import { Observable } from "./observable";

export interface Span {
  from: number;
  to: number;
}

const MOST = 5000;
const replayed = new EventStore(MOST);
/** Whether the log has more events of the moment than are shown. */
export const isCut = new Observable(false);
/** Changes when the events of another moment were read. */
export const read = new Observable<Span | null>(null);

let wanted: Span | null = null;
let busy = false;
/** Counts visits: an answer to one is not shown in the next. */
let left = 0;

/** What happens now is always shown from what has arrived. */
function isKnown({ from, to }: Span): boolean {
  return from >= events.completeFrom || to === Number.POSITIVE_INFINITY;
}

/** The events of a span of time, as far as they are known by now. */
export function eventsOf(span: Span): GeoEvent[] {
  return (isKnown(span) ? events : replayed).between(span.from, span.to);
}

export function eventOf(key: string): GeoEvent | null {
  return events.get(key) ?? replayed.get(key) ?? null;
}

/** Read the events of a span from the log, unless they are here; the last that is asked for counts. */
export async function need(span: Span): Promise<void> {
  if (isKnown(span)) {
    isCut.value = false;
    return;
  }
  wanted = span;
  if (busy) return;
  busy = true;
  try {
    while (wanted) {
      const next: Span = wanted;
      wanted = null;
      await load(next);
    }
  } finally {
    busy = false;
  }
}

async function load(span: Span): Promise<void> {
  const begun = left;
  const after = new Date(span.from).toISOString();
  const before = new Date(span.to + 1).toISOString();
  const query = { after, before, limit: MOST };
  const page = await answer(service.GET("/v1/events", { params: { query } }));
  if (begun !== left) return;
  replayed.clear();
  replayed.add(readAll(page.features).reverse());
  isCut.value = page.next !== null;
  read.value = span;
}

export function forgetReplay(): void {
  left++;
  wanted = null;
  replayed.clear();
  isCut.value = false;
  read.value = null;
}
