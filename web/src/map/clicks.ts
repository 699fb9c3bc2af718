// What a click on the map opens: a cluster grows, an event shows itself, an area is selected.
import type { MapGeoJSONFeature, Map as MapLibre, Point } from "maplibre-gl";
import { dismissDraft } from "../state/draft";
import { eventOf } from "../state/replay";
import { selected } from "../state/subscriptions";
import { openEvent, panel, reducedMotion } from "../state/view";
import { tool } from "./drawing";
import { CLICKABLE } from "./event-layers";
import { source } from "./map-view";

const AREAS = [
  "subscriptions-fill",
  "subscriptions-points",
  "subscriptions-line",
  "subscriptions-dashes",
];
/** Fingers and small points need some room around a click. */
const REACH = 6;
const WIDE_REACH = 40;
/** Looking for what is under the mouse costs time; not more often than this. */
const POINTING = 120;

let pointed = 0;

export function openOnClick(map: MapLibre): void {
  map.on("click", ({ point }) => open(map, point, REACH));
  openOnEnter(map);
  map.on("mousemove", (move) => {
    const now = performance.now();
    if (tool.value !== null || map.isMoving() || now - pointed < POINTING) return;
    pointed = now;
    const hit = around(map, move.point, [...CLICKABLE, ...AREAS]).length > 0;
    map.getCanvas().style.cursor = hit ? "pointer" : "";
  });
}

/** By keyboard, Enter opens what is next to the middle of the map, where a cross stands meanwhile. */
function openOnEnter(map: MapLibre): void {
  const canvas = map.getCanvas();
  const cross = document.createElement("div");
  cross.className = "map-cross";
  canvas.after(cross);
  const place = () => {
    const { x, y } = map.project(map.getCenter());
    cross.style.transform = `translate(${x}px, ${y}px)`;
  };
  map.on("move", place);
  canvas.addEventListener("focus", place);
  canvas.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    open(map, map.project(map.getCenter()), WIDE_REACH);
  });
}

function open(map: MapLibre, point: Point, reach: number): void {
  if (tool.value !== null) return;
  const found = nearest(map, point, around(map, point, CLICKABLE, reach));
  if (found?.properties.cluster) void grow(map, found);
  else if (found) openEvent.value = eventOf(String(found.properties.k));
  else selectArea(map, point);
}

/** The one that is drawn on top, among those that are equally near. */
function nearest(map: MapLibre, { x, y }: Point, found: MapGeoJSONFeature[]) {
  const distance = ({ geometry }: MapGeoJSONFeature): number => {
    if (geometry.type !== "Point") return REACH;
    const at = map.project(geometry.coordinates as [number, number]);
    return Math.max(REACH, Math.hypot(at.x - x, at.y - y));
  };
  return found.toSorted((a, b) => distance(a) - distance(b))[0];
}

function around(map: MapLibre, point: Point, layers: string[], reach = REACH): MapGeoJSONFeature[] {
  const box: [[number, number], [number, number]] = [
    [point.x - reach, point.y - reach],
    [point.x + reach, point.y + reach],
  ];
  return map.queryRenderedFeatures(box, { layers });
}

async function grow(map: MapLibre, cluster: MapGeoJSONFeature): Promise<void> {
  const zoom = await source(map, "events").getClusterExpansionZoom(cluster.properties.cluster_id);
  const { coordinates } = cluster.geometry as { coordinates: number[] };
  const center: [number, number] = [coordinates[0] ?? 0, coordinates[1] ?? 0];
  map.easeTo({ center, zoom: zoom + 0.2, duration: reducedMotion() ? 0 : 500 });
}

function selectArea(map: MapLibre, point: Point): void {
  openEvent.value = null;
  if (panel.value === "editor") return;
  const area = map.queryRenderedFeatures(point, { layers: AREAS })[0];
  if (!area) return;
  dismissDraft();
  selected.value = String(area.properties.id);
}
