// The events that the page knows: a bounded store, oldest out first.
import type { Feature } from "geojson";
import { isPlain, type Kind, kindOf, type PlainGeometry } from "./geometry";

export interface GeoEvent {
  /** Publisher and id together: two publishers may give the same id. */
  key: string;
  id: string;
  publisher: string;
  time: number;
  kind: Kind;
  geometry: PlainGeometry;
  properties: Record<string, unknown>;
}

export interface Origin {
  publisher?: string;
  time?: string;
}

type Told = Feature & { geocast?: Origin };

export function keyOf(publisher: string, id: string): string {
  return `${publisher}/${id}`;
}

/** An event as the gateway tells it; null where there is nothing to draw. */
export function readEvent(feature: Told, origin = feature.geocast): GeoEvent | null {
  if (!isPlain(feature.geometry)) return null;
  const told = Date.parse(origin?.time ?? "");
  const id = String(feature.id ?? "");
  const publisher = origin?.publisher ?? "";
  return {
    key: keyOf(publisher, id),
    id,
    publisher,
    time: Number.isNaN(told) ? Date.now() : told,
    kind: kindOf(feature.geometry),
    geometry: feature.geometry,
    properties: feature.properties ?? {},
  };
}

export class EventStore {
  /** How many events arrived that were not in the store. */
  arrived = 0;
  /** All events since this time are here; none is known to be while it is infinite. */
  completeFrom = Number.POSITIVE_INFINITY;
  /** Up to this time there was no room. */
  #evicted = Number.NEGATIVE_INFINITY;
  #events = new Map<string, GeoEvent>();
  #kinds: Record<Kind, number> = { point: 0, line: 0, area: 0 };

  constructor(readonly capacity = 20_000) {}

  get size(): number {
    return this.#events.size;
  }

  get(key: string): GeoEvent | undefined {
    return this.#events.get(key);
  }

  /** Add events; one that is known already is replaced and becomes the newest. */
  add(events: Iterable<GeoEvent>): GeoEvent[] {
    const fresh: GeoEvent[] = [];
    for (const event of events) {
      if (!this.#drop(event.key)) fresh.push(event);
      this.#events.set(event.key, event);
      this.#kinds[event.kind]++;
    }
    while (this.#events.size > this.capacity) this.#evict();
    this.arrived += fresh.length;
    return fresh;
  }

  /** Add older events, newest first, before those that are there; tells whether there was room. */
  addBefore(events: readonly GeoEvent[]): boolean {
    const room = Math.max(0, this.capacity - this.#events.size);
    const unknown = events.filter((event) => !this.#events.has(event.key));
    const older = unknown.slice(0, room);
    const newer = [...this.#events.values()];
    this.#events = new Map(older.reverse().map((event) => [event.key, event]));
    for (const event of older) this.#kinds[event.kind]++;
    for (const event of newer) this.#events.set(event.key, event);
    return unknown.length <= room;
  }

  /** All events since a time were added, and as many of them are here as there is room for. */
  complete(from: number): void {
    this.completeFrom = Math.max(from, this.#evicted);
  }

  clear(): void {
    this.completeFrom = Number.POSITIVE_INFINITY;
    this.#evicted = Number.NEGATIVE_INFINITY;
    this.#events.clear();
    this.#kinds = { point: 0, line: 0, area: 0 };
  }

  /** All events, oldest arrival first. */
  values(): IterableIterator<GeoEvent> {
    return this.#events.values();
  }

  /** The events of a time span, both ends included. */
  between(from: number, to: number): GeoEvent[] {
    const found: GeoEvent[] = [];
    for (const event of this.#events.values())
      if (event.time >= from && event.time <= to) found.push(event);
    return found;
  }

  /** The kind of most events, which new subscriptions are likely about. */
  get commonKind(): Kind {
    const { point, line, area } = this.#kinds;
    if (point >= line && point >= area) return "point";
    return line >= area ? "line" : "area";
  }

  kindsSeen(): Kind[] {
    return (["point", "line", "area"] as const).filter((kind) => this.#kinds[kind] > 0);
  }

  #evict(): void {
    const [oldest] = this.#events.values();
    if (!oldest) return;
    this.#drop(oldest.key);
    this.#evicted = Math.max(this.#evicted, oldest.time + 1);
    this.completeFrom = Math.max(this.completeFrom, this.#evicted);
  }

  #drop(key: string): boolean {
    const known = this.#events.get(key);
    if (!known) return false;
    this.#kinds[known.kind]--;
    return this.#events.delete(key);
  }
}

/** How visible an event still is, from 1 (now) to 0.25, by its age within the span shown. */
export function fade(age: number, span: number): number {
  const share = Math.min(1, Math.max(0, age / span));
  return Math.round((1 - 0.75 * share) * 20) / 20;
}
