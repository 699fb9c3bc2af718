// Events as features to be drawn: colour and visibility are decided here, not by the style.
import type { Feature, FeatureCollection } from "geojson";
import type { Colouring } from "../model/colours";
import { fade, type GeoEvent } from "../model/events";

/** Lines and areas drawn at most; they cost more than points and are not clustered. */
const MOST_SHAPES = 2000;

export const NOTHING: FeatureCollection = { type: "FeatureCollection", features: [] };

/** Colour and visibility. */
export interface Look {
  c: string;
  o: number;
}

export interface Moment {
  now: number;
  fading: number;
}

export function looks(colouring: Colouring, { now, fading }: Moment): (event: GeoEvent) => Look {
  return (event) => ({ c: colouring.of(event), o: fade(now - event.time, fading) });
}

export function featureOf(event: GeoEvent, look: Look): Feature {
  return {
    type: "Feature",
    id: event.key,
    geometry: event.geometry,
    properties: { k: event.key, ...look },
  };
}

export function collection(features: Feature[]): FeatureCollection {
  return { type: "FeatureCollection", features };
}

export interface Parted {
  points: GeoEvent[];
  shapes: GeoEvent[];
}

/** Points, which are clustered, apart from lines and areas, of which the newest are drawn. */
export function parted(events: readonly GeoEvent[]): Parted {
  const points: GeoEvent[] = [];
  const shapes: GeoEvent[] = [];
  for (const event of events) (event.geometry.type === "Point" ? points : shapes).push(event);
  return { points, shapes: shapes.slice(-MOST_SHAPES) };
}
