// Keeps the events on the map up to date without ever queueing behind the map's worker.
//
// All points together are clustered, which takes the worker a while, so that this is done every
// few seconds only. What arrives in between is drawn on top from a small source of its own.
import type { Map as MapLibre } from "maplibre-gl";
import { type Colouring, colouringBy, PLAIN, steady } from "../model/colours";
import type { GeoEvent } from "../model/events";
import { arrivals } from "../state/live";
import { Observable } from "../state/observable";
import { eventsOf, read } from "../state/replay";
import { moment, span, window as timeWindow } from "../state/timeline";
import { colourBy } from "../state/view";
import { ChangingSource } from "./changing-source";
import { looks, parted } from "./event-features";

const TICK = 200;
const REBUILD_EVERY = 2500;
const FADE_EVERY = 20_000;
/** Fresh events drawn at most; the rest waits for the next rebuild. */
const MOST_FRESH = 1500;

export const colouring = new Observable<Colouring>(PLAIN);
/** How many events the map shows. */
export const shownCount = new Observable(0);

export class EventPainter {
  #fresh: GeoEvent[] = [];
  #freshChanged = false;
  #stale = true;
  #urgent = true;
  #rebuilt = 0;
  #busy = false;
  #points: ChangingSource;
  #shapes: ChangingSource;
  #latest: ChangingSource;

  constructor(map: MapLibre) {
    this.#points = new ChangingSource(map, "events");
    this.#shapes = new ChangingSource(map, "shapes");
    this.#latest = new ChangingSource(map, "fresh");
    arrivals.subscribe(() => this.#arrive(arrivals.value));
    for (const cause of [moment, span, colourBy, read]) cause.subscribe(() => this.#soon());
    setInterval(() => void this.#tick(), TICK);
  }

  #arrive(added: readonly GeoEvent[]): void {
    this.#stale = true;
    if (added.length === 0) this.#urgent = true;
    if (moment.value !== null) return;
    this.#fresh = [...this.#fresh, ...added].slice(-MOST_FRESH);
    this.#freshChanged = true;
  }

  #soon(): void {
    this.#urgent = true;
  }

  async #tick(): Promise<void> {
    if (this.#busy || document.hidden) return;
    this.#busy = true;
    try {
      if (this.#due()) await this.#rebuild();
      else if (this.#freshChanged) await this.#drawFresh();
    } finally {
      this.#busy = false;
    }
  }

  #due(): boolean {
    const age = performance.now() - this.#rebuilt;
    return this.#urgent || age > FADE_EVERY || (this.#stale && age > REBUILD_EVERY);
  }

  async #rebuild(): Promise<void> {
    this.#urgent = this.#stale = false;
    const taken = new Set(this.#fresh);
    const { from, to, fading } = timeWindow();
    const shown = eventsOf({ from, to });
    colouring.value = steady(colouring.value, colouringBy(colourBy.value ?? "", shown));
    const look = looks(colouring.value, { now: moment.value ?? Date.now(), fading });
    const { points, shapes } = parted(shown);
    await Promise.all([this.#points.show(points, look), this.#shapes.show(shapes, look)]);
    this.#fresh = this.#fresh.filter((event) => !taken.has(event));
    await this.#drawFresh();
    shownCount.value = points.length + shapes.length;
    this.#rebuilt = performance.now();
  }

  async #drawFresh(): Promise<void> {
    this.#freshChanged = false;
    const live = moment.value === null ? this.#fresh : [];
    await this.#latest.show(live, looks(colouring.value, { now: Date.now(), fading: span.value }));
  }
}
