// A source of the map that is told only what changed.
//
// The map's worker gets a copy of whatever it is told, and copying 20,000 features takes the page
// as long as several pictures. Of 20,000 events, few change from one time to the next.
import type { Map as MapLibre } from "maplibre-gl";
import type { GeoEvent } from "../model/events";
import { DrawnFeatures } from "./drawn-features";
import { collection, type Look } from "./event-features";
import { source } from "./map-view";

/** A change of more than this part is slower to apply than everything is to set. */
const MOST_CHANGED = 0.5;

export class ChangingSource {
  #drawn = new DrawnFeatures();

  constructor(
    private map: MapLibre,
    private id: string,
  ) {}

  /** Draw these events and no others; the map is left alone where nothing changed. */
  async show(events: readonly GeoEvent[], lookOf: (event: GeoEvent) => Look): Promise<void> {
    const { diff, size } = this.#drawn.show(events, lookOf);
    if (size === 0) return;
    const told = source(this.map, this.id);
    try {
      if (size > MOST_CHANGED * events.length) await told.setData(collection(this.#drawn.all));
      else await told.updateData(diff);
    } catch (error) {
      this.#drawn = new DrawnFeatures();
      throw error;
    }
  }
}
