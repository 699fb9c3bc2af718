// The layers of events: shapes, clusters, points, what just arrived, what a preview matched.
import type { LayerSpecification, Map as MapLibre } from "maplibre-gl";
import { FONT } from "./base-style";
import { NOTHING } from "./event-features";

const COLOUR = ["get", "c"] as never;
const VISIBLE = ["get", "o"] as never;
const IS_AREA = ["==", ["geometry-type"], "Polygon"] as never;
const IS_POINT = ["==", ["geometry-type"], "Point"] as never;
const IS_CLUSTER = ["has", "point_count"] as never;
/** Thin from afar, so that many small areas do not become one. */
const WIDTH = ["interpolate", ["linear"], ["zoom"], 1, 1.1, 5, 2.2] as never;
const RADIUS = ["interpolate", ["linear"], ["zoom"], 0, 3.4, 5, 5, 10, 7] as never;

/** The highlight of matches; strong on both themes. */
const MATCH = "#ff3d8b";
const CLUSTER = "#4d6078";
const OPEN = "#0b6ff0";

function shapeLayers(from: string): LayerSpecification[] {
  return [
    {
      id: `${from}-fill`,
      type: "fill",
      source: from,
      filter: IS_AREA,
      paint: { "fill-color": COLOUR, "fill-opacity": ["*", 0.22, VISIBLE] as never },
    },
    {
      id: `${from}-line`,
      type: "line",
      source: from,
      filter: ["!=", ["geometry-type"], "Point"] as never,
      // Round joins look the same at this width, and take half as long again to draw all shapes.
      paint: { "line-color": COLOUR, "line-width": WIDTH, "line-opacity": VISIBLE },
    },
    {
      id: `${from}-points`,
      type: "circle",
      source: from,
      filter: IS_POINT,
      paint: pointPaint(),
    },
  ];
}

function pointPaint() {
  return {
    "circle-color": COLOUR,
    "circle-radius": RADIUS,
    "circle-opacity": VISIBLE,
    "circle-stroke-color": "#ffffff",
    "circle-stroke-width": 1,
    "circle-stroke-opacity": VISIBLE,
  };
}

const CLUSTER_LAYERS: LayerSpecification[] = [
  {
    id: "events-points",
    type: "circle",
    source: "events",
    filter: ["!", IS_CLUSTER] as never,
    paint: pointPaint(),
  },
  {
    id: "events-clusters",
    type: "circle",
    source: "events",
    filter: IS_CLUSTER,
    paint: {
      "circle-color": CLUSTER,
      "circle-opacity": ["*", 0.88, VISIBLE] as never,
      "circle-radius": [
        "interpolate",
        ["linear"],
        ["log10", ["get", "point_count"]],
        0.8,
        11,
        2,
        17,
        4,
        30,
      ],
      "circle-stroke-color": CLUSTER,
      "circle-stroke-width": 5,
      "circle-stroke-opacity": ["*", 0.3, VISIBLE] as never,
    },
  },
  {
    id: "events-counts",
    type: "symbol",
    source: "events",
    filter: IS_CLUSTER,
    layout: {
      "text-field": ["get", "point_count_abbreviated"],
      "text-font": FONT,
      "text-size": 11.5,
      "text-allow-overlap": true,
      "text-ignore-placement": true,
    },
    paint: { "text-color": "#ffffff" },
  },
];

const FRESH_RING: LayerSpecification = {
  id: "fresh-ring",
  type: "circle",
  source: "fresh",
  filter: IS_POINT,
  paint: { "circle-color": COLOUR, "circle-radius": 12, "circle-opacity": 0.22 },
};

const MATCH_LAYERS: LayerSpecification[] = [
  {
    id: "matched-line",
    type: "line",
    source: "matched",
    filter: ["!=", ["geometry-type"], "Point"] as never,
    paint: { "line-color": MATCH, "line-width": 4 },
  },
  {
    id: "matched-points",
    type: "circle",
    source: "matched",
    filter: IS_POINT,
    paint: {
      "circle-color": MATCH,
      "circle-radius": 5.5,
      "circle-stroke-color": "#ffffff",
      "circle-stroke-width": 1.5,
    },
  },
];

const OPEN_LAYERS: LayerSpecification[] = [
  {
    id: "open-line",
    type: "line",
    source: "open",
    filter: ["!=", ["geometry-type"], "Point"] as never,
    paint: { "line-color": OPEN, "line-width": 5 },
  },
  {
    id: "open-ring",
    type: "circle",
    source: "open",
    filter: IS_POINT,
    paint: {
      "circle-color": "rgba(0,0,0,0)",
      "circle-radius": 13,
      "circle-stroke-color": OPEN,
      "circle-stroke-width": 3,
    },
  },
];

export const CLICKABLE = [
  "events-points",
  "events-clusters",
  "fresh-points",
  "fresh-line",
  "fresh-fill",
  "shapes-points",
  "shapes-line",
  "shapes-fill",
  "matched-points",
];

export function addEventLayers(map: MapLibre): void {
  for (const id of ["shapes", "fresh", "matched", "open"])
    map.addSource(id, { type: "geojson", data: NOTHING });
  map.addSource("events", {
    type: "geojson",
    data: NOTHING,
    cluster: true,
    clusterMaxZoom: 8,
    clusterRadius: 36,
    clusterMinPoints: 7,
    clusterProperties: { o: ["max", ["get", "o"]] },
  });
  const layers = [
    ...shapeLayers("shapes"),
    ...CLUSTER_LAYERS,
    FRESH_RING,
    ...shapeLayers("fresh"),
    ...MATCH_LAYERS,
    ...OPEN_LAYERS,
  ];
  for (const layer of layers) map.addLayer(layer);
}
