// What a source draws, and how to get from there to what it is to draw next.
import type { Feature } from "geojson";
import type { GeoJSONSourceDiff } from "maplibre-gl";
import type { GeoEvent } from "../model/events";
import { featureOf, type Look } from "./event-features";

export interface Change {
  diff: Required<Pick<GeoJSONSourceDiff, "add" | "remove" | "update">>;
  size: number;
}

export class DrawnFeatures {
  #features = new Map<string, Feature>();

  get all(): Feature[] {
    return [...this.#features.values()];
  }

  show(events: readonly GeoEvent[], lookOf: (event: GeoEvent) => Look): Change {
    const before = this.#features;
    const diff: Change["diff"] = { add: [], remove: [], update: [] };
    this.#features = new Map();
    for (const event of events) {
      const look = lookOf(event);
      const known = before.get(event.key);
      const same = known?.geometry === event.geometry ? known : undefined;
      const next = same && isLike(same, look) ? same : featureOf(event, look);
      this.#features.set(event.key, next);
      if (!same) diff.add.push(next);
      else if (next !== same) diff.update.push(updated(event.key, look));
    }
    for (const key of before.keys()) if (!this.#features.has(key)) diff.remove.push(key);
    return { diff, size: diff.add.length + diff.remove.length + diff.update.length };
  }
}

function isLike({ properties }: Feature, look: Look): boolean {
  return properties?.c === look.c && properties.o === look.o;
}

function updated(id: string, look: Look) {
  const addOrUpdateProperties = [
    { key: "c", value: look.c },
    { key: "o", value: look.o },
  ];
  return { id, addOrUpdateProperties };
}
