// Subscriptions and the area being drawn, on the map.
import type { Feature, FeatureCollection } from "geojson";
import type { LayerSpecification, Map as MapLibre } from "maplibre-gl";
import { boundsOf, type PlainGeometry } from "../model/geometry";
import { draft, preview } from "../state/draft";
import { publishPlace } from "../state/publishing";
import { eventOf } from "../state/replay";
import { selected, subscriptions } from "../state/subscriptions";
import { openEvent, theme } from "../state/view";
import { FONT } from "./base-style";
import { collection, NOTHING } from "./event-features";
import { source } from "./map-view";

const ACTIVE = "#0b6ff0";
const PENDING = "#d97706";
const PAUSED = "#7d8794";
const DRAFT = "#ff3d8b";

const COLOUR = ["match", ["get", "status"], "pending", PENDING, "paused", PAUSED, ACTIVE] as never;
const SELECTED = ["get", "selected"] as never;
const IS_AREA = ["==", ["geometry-type"], "Polygon"] as never;
const IS_POINT = ["==", ["geometry-type"], "Point"] as never;
const IS_ACTIVE = ["==", ["get", "status"], "active"] as never;

const LAYERS: LayerSpecification[] = [
  {
    id: "subscriptions-fill",
    type: "fill",
    source: "subscriptions",
    filter: IS_AREA,
    paint: { "fill-color": COLOUR, "fill-opacity": ["case", SELECTED, 0.14, 0.07] as never },
  },
  {
    id: "subscriptions-line",
    type: "line",
    source: "subscriptions",
    filter: ["all", ["!=", ["geometry-type"], "Point"], IS_ACTIVE] as never,
    layout: { "line-join": "round" },
    paint: { "line-color": COLOUR, "line-width": ["case", SELECTED, 3, 1.6] as never },
  },
  {
    id: "subscriptions-dashes",
    type: "line",
    source: "subscriptions",
    filter: ["all", ["!=", ["geometry-type"], "Point"], ["!", IS_ACTIVE]] as never,
    paint: {
      "line-color": COLOUR,
      "line-width": ["case", SELECTED, 3, 1.6] as never,
      "line-dasharray": [3, 2],
    },
  },
  {
    id: "subscriptions-points",
    type: "circle",
    source: "subscriptions",
    filter: IS_POINT,
    paint: {
      "circle-color": COLOUR,
      "circle-opacity": 0.25,
      "circle-radius": ["case", SELECTED, 11, 8] as never,
      "circle-stroke-color": COLOUR,
      "circle-stroke-width": 2,
    },
  },
  {
    id: "draft-fill",
    type: "fill",
    source: "draft",
    filter: IS_AREA,
    paint: { "fill-color": DRAFT, "fill-opacity": 0.06 },
  },
  {
    id: "draft-line",
    type: "line",
    source: "draft",
    filter: ["!=", ["geometry-type"], "Point"] as never,
    paint: { "line-color": DRAFT, "line-width": 2.5, "line-dasharray": [2, 1.2] },
  },
  {
    id: "draft-points",
    type: "circle",
    source: "draft",
    filter: IS_POINT,
    paint: {
      "circle-color": DRAFT,
      "circle-radius": 7,
      "circle-stroke-color": "#ffffff",
      "circle-stroke-width": 2,
    },
  },
];

const NAMES: LayerSpecification = {
  id: "subscriptions-names",
  type: "symbol",
  source: "subscription-names",
  layout: {
    "text-field": ["get", "name"],
    "text-font": FONT,
    "text-size": 12,
    "text-max-width": 12,
    "text-anchor": "bottom",
    "text-offset": [0, -0.3],
    "symbol-sort-key": ["case", SELECTED, 0, 1] as never,
  },
  paint: { "text-halo-width": 1.6 },
};

export function addSubscriptionLayers(map: MapLibre, before: string): void {
  for (const id of ["subscriptions", "subscription-names", "draft"])
    map.addSource(id, { type: "geojson", data: NOTHING });
  for (const layer of LAYERS) map.addLayer(layer, before);
  map.addLayer(NAMES);
  const paint = () => {
    const dark = theme.value === "dark";
    map.setPaintProperty(NAMES.id, "text-halo-color", dark ? "#10181f" : "#ffffff");
    map.setPaintProperty(NAMES.id, "text-color", dark ? "#8fc0ff" : "#0a58c2");
  };
  paint();
  theme.subscribe(paint);
}

function subscriptionFeatures(): FeatureCollection {
  const shown = subscriptions.value.filter(({ id }) => id !== draft.value?.id);
  return collection(
    shown.flatMap(({ id, name, status, geometry }): Feature[] => {
      if (!geometry) return [];
      const label = name.length > 40 ? `${name.slice(0, 39)}…` : name;
      const properties = { id, name: label, status, selected: id === selected.value };
      return [{ type: "Feature", geometry, properties }];
    }),
  );
}

/** A name stands once, at the upper edge of its area, however many tiles that covers. */
function named({ features }: FeatureCollection): FeatureCollection {
  return collection(
    features.map(({ properties, geometry }) => {
      const [west, , east, north] = boundsOf(geometry as PlainGeometry);
      const coordinates = [(west + east) / 2, north];
      return { type: "Feature", properties, geometry: { type: "Point", coordinates } };
    }),
  );
}

function feature(geometry: Feature["geometry"] | null | undefined): FeatureCollection {
  return geometry ? collection([{ type: "Feature", geometry, properties: {} }]) : NOTHING;
}

function matchedFeatures(): FeatureCollection {
  const found = preview.value.state === "done" ? preview.value.keys : [];
  return collection(
    found.flatMap((key) => {
      const event = eventOf(key);
      if (!event) return [];
      return [{ type: "Feature", geometry: event.geometry, properties: { k: event.key } }];
    }),
  );
}

/** Draw subscriptions, draft, matches and the open event again whenever they change. */
export function paintSubscriptions(map: MapLibre): void {
  const all = () => {
    const found = subscriptionFeatures();
    void source(map, "subscriptions").setData(found);
    void source(map, "subscription-names").setData(named(found));
  };
  for (const cause of [subscriptions, selected, draft]) cause.subscribe(all);
  const drawn = () =>
    void source(map, "draft").setData(feature(draft.value?.geometry ?? publishPlace.value));
  for (const cause of [draft, publishPlace]) cause.subscribe(drawn);
  preview.subscribe(() => void source(map, "matched").setData(matchedFeatures()));
  openEvent.subscribe(() => void source(map, "open").setData(feature(openEvent.value?.geometry)));
  all();
}
