// Events as they arrive, and those that the log still has.
import type { Feature } from "geojson";
import { answer, authorization, ROOT, type Schemas, service } from "../api/client";
import { follow } from "../api/sse";
import { EventStore, type GeoEvent, readEvent } from "../model/events";
import { HOUR } from "../model/times";
import { Observable } from "./observable";
import { signOut } from "./session";
import { say } from "./view";

export type Connection = "closed" | "open" | "waiting";

export const events = new EventStore();
/** Changes when events were added, at most once a frame's batch. */
export const arrivals = new Observable<readonly GeoEvent[]>([]);
export const connection = new Observable<Connection>("closed");
/** How many events the stream left out because they came too fast. */
export const skipped = new Observable(0);
export const loadingHistory = new Observable(false);

const PAGE = 5000;
/** Counts what was left, so that an answer that comes later is not shown to somebody else. */
let left = 0;
let stop = () => {};

export function followEvents(): void {
  stop();
  stop = follow({
    url: `${ROOT}/v1/events/stream`,
    headers: authorization,
    onEvents: (told) =>
      take(told.filter(({ event }) => event === "events").map(({ data }) => data)),
    onState: (state) => {
      connection.value = state;
    },
    onRefused: (status) => {
      connection.value = "closed";
      if (status !== 401) {
        say(`Events do not arrive: the service refuses (${status}).`, "bad");
        return;
      }
      signOut();
      say("You are signed out: the token is not valid any more.", "bad");
    },
  });
}

export function leaveEvents(): void {
  stop();
  left++;
  connection.value = "closed";
  skipped.value = 0;
  events.clear();
  arrivals.value = [];
}

function take(documents: string[]): void {
  const told = documents.map((text) => JSON.parse(text) as Schemas["EventsMessage"]);
  const found = told.flatMap(({ features }) => readAll(features));
  const missing = told.reduce((sum, one) => sum + one.skipped, 0);
  if (missing > 0) events.complete(Number.POSITIVE_INFINITY);
  skipped.value += missing;
  if (found.length > 0) show(found);
}

/** Put events on the map as if they had just arrived. */
export function show(found: readonly GeoEvent[]): void {
  arrivals.value = events.add(found);
}

/** The events of features, as far as there is something to draw. */
export function readAll(features: readonly unknown[]): GeoEvent[] {
  return features.map((feature) => readEvent(feature as Feature)).filter((event) => event !== null);
}

/** Load events of the last hours from the log, newest first, until there are enough. */
export async function loadHistory(hours: number, most: number): Promise<void> {
  loadingHistory.value = true;
  const begun = left;
  try {
    const start = Date.now() - hours * HOUR;
    const after = new Date(start).toISOString();
    let cursor: string | undefined;
    for (let loaded = 0; loaded < most && events.size < events.capacity; ) {
      const query = { after, limit: Math.min(PAGE, most - loaded), cursor };
      const page = await answer(service.GET("/v1/events", { params: { query } }));
      if (begun !== left) return;
      const found = readAll(page.features);
      const isRoom = events.addBefore(found);
      loaded += page.features.length;
      cursor = page.next ?? undefined;
      const reached = cursor ? found.at(-1)?.time : start;
      if (isRoom && reached !== undefined && !skipped.value) events.complete(reached);
      arrivals.touch();
      if (!cursor) return;
    }
  } finally {
    loadingHistory.value = false;
  }
}
