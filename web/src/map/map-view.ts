// The map itself: made once, themed, turned into a globe, moved to places.
import { type GeoJSONSource, Map as MapLibre, setWorkerUrl } from "maplibre-gl";
import "maplibre-gl/dist/maplibre-gl.css";
import workerUrl from "maplibre-gl/dist/maplibre-gl-worker.mjs?worker&url";
import { type PlainGeometry, viewOf } from "../model/geometry";
import { globe, isPhone, reducedMotion, theme } from "../state/view";
import { basePaint, baseStyle, type Tiles } from "./base-style";
import { coarseCountries, detailedCountries, labelsOf } from "./countries";

setWorkerUrl(workerUrl);

const DETAIL_ZOOM = 3.5;
/** The width of the panel and its margins. */
const PANEL = 400;
/** The width of the world at zoom 0, in pixels. */
const WORLD = 512;
/** Close enough to see where something is. */
const CLOSE = 4.5;

export function createMap(container: HTMLElement, tiles: Tiles | null): MapLibre {
  const map = new MapLibre({
    container,
    style: baseStyle(theme.value, tiles),
    center: [10, 22],
    zoom: wholeWorld(),
    minZoom: 0,
    maxPitch: 60,
    attributionControl: { compact: true },
    dragRotate: false,
    fadeDuration: reducedMotion() ? 0 : 200,
  });
  map.touchZoomRotate.disableRotation();
  map.on("load", () => void showNames(map));
  if (!tiles) map.on("zoomend", () => void detail(map));
  theme.subscribe(() => paintBase(map));
  globe.subscribe(() => map.setProjection({ type: globe.value ? "globe" : "mercator" }));
  return map;
}

/** The zoom at which the world is as wide as what the panel leaves free. */
function wholeWorld(): number {
  const free = isPhone() ? innerWidth : innerWidth - PANEL;
  return Math.max(0.2, Math.log2(free / WORLD));
}

export function source(map: MapLibre, id: string): GeoJSONSource {
  const found = map.getSource<GeoJSONSource>(id);
  if (!found) throw new Error(`The map has no source ${id}.`);
  return found;
}

async function showNames(map: MapLibre): Promise<void> {
  const countries = await coarseCountries().catch(() => null);
  if (countries) source(map, "country-labels").setData(labelsOf(countries));
}

const detailedMaps = new WeakSet<MapLibre>();

/** Finer shapes, loaded when somebody looks closer. */
async function detail(map: MapLibre): Promise<void> {
  if (map.getZoom() < DETAIL_ZOOM || detailedMaps.has(map)) return;
  detailedMaps.add(map);
  const countries = await detailedCountries().catch(() => null);
  if (!countries) {
    detailedMaps.delete(map);
    return;
  }
  source(map, "countries").setData(countries);
  source(map, "country-labels").setData(labelsOf(countries));
}

function paintBase(map: MapLibre): void {
  for (const [layer, paint] of Object.entries(basePaint(theme.value))) {
    if (!map.getLayer(layer)) continue;
    for (const [name, value] of Object.entries(paint))
      map.setPaintProperty(layer, name as "background-color", value);
  }
}

/** Keep the middle of the map in what the panel leaves free. */
export function makeRoom(map: MapLibre, signedIn: boolean): void {
  const phone = isPhone();
  const left = signedIn && !phone ? PANEL : 0;
  const bottom = signedIn && phone ? innerHeight * 0.45 : 0;
  const padding = { top: 0, right: 0, left, bottom };
  map.easeTo({ padding, duration: reducedMotion() ? 0 : 400 });
}

export function showGeometry(map: MapLibre, geometry: PlainGeometry): void {
  const bounds = viewOf(geometry);
  const room = Math.min(80, innerWidth / 10);
  map.fitBounds(bounds, { padding: room, maxZoom: CLOSE, duration: reducedMotion() ? 0 : 700 });
}
