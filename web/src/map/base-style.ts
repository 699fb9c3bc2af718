// The base map: the built-in countries, or raster tiles where the service names some.
import type { StyleSpecification } from "maplibre-gl";
import type { Schemas } from "../api/client";
import countriesUrl from "../generated/countries-110m.json?url";
import graticuleUrl from "../generated/graticule.json?url";
import type { Theme } from "../state/view";

export const COUNTRIES_URL = countriesUrl;
export const FONT = ["system-ui", "Segoe UI", "Roboto", "Helvetica Neue", "Arial", "sans-serif"];

/** A source of map tiles that the service was told to use. */
export type Tiles = Schemas["Tiles"];

interface Palette {
  water: string;
  land: string;
  border: string;
  grid: string;
  label: string;
  halo: string;
}

const PALETTES: Record<Theme, Palette> = {
  light: {
    water: "#d3e3ef",
    land: "#f7f6f2",
    border: "#c9c6bd",
    grid: "#c2d6e5",
    label: "#5d6570",
    halo: "#f7f6f2",
  },
  dark: {
    water: "#0f1922",
    land: "#1d2933",
    border: "#3a4a58",
    grid: "#182530",
    label: "#93a4b4",
    halo: "#17222b",
  },
};

/** The colours of the base layers in a theme, as paint properties by layer. */
export function basePaint(theme: Theme): Record<string, Record<string, string>> {
  const { water, land, border, grid, label, halo } = PALETTES[theme];
  return {
    water: { "background-color": water },
    graticule: { "line-color": grid },
    land: { "fill-color": land },
    borders: { "line-color": border },
    "country-names": { "text-color": label, "text-halo-color": halo },
  };
}

const RANK_ZOOM = ["get", "rank"] as const;

export function baseStyle(theme: Theme, tiles: Tiles | null): StyleSpecification {
  const paint = basePaint(theme);
  const style: StyleSpecification = {
    version: 8,
    projection: { type: "mercator" },
    sources: {
      countries: { type: "geojson", data: countriesUrl, attribution: "Natural Earth" },
      "country-labels": { type: "geojson", data: { type: "FeatureCollection", features: [] } },
      graticule: { type: "geojson", data: graticuleUrl },
    },
    layers: [
      { id: "water", type: "background", paint: { ...paint.water } },
      {
        id: "graticule",
        type: "line",
        source: "graticule",
        paint: { ...paint.graticule, "line-width": 0.6 },
      },
      { id: "land", type: "fill", source: "countries", paint: { ...paint.land } },
      {
        id: "borders",
        type: "line",
        source: "countries",
        paint: {
          ...paint.borders,
          "line-width": ["interpolate", ["linear"], ["zoom"], 0, 0.5, 6, 1.2],
        },
      },
      {
        id: "country-names",
        type: "symbol",
        source: "country-labels",
        filter: ["<=", RANK_ZOOM as never, ["+", ["*", ["zoom"], 1.6], 2.2]],
        layout: {
          "text-field": ["get", "name"],
          "text-font": FONT,
          "text-size": ["interpolate", ["linear"], ["zoom"], 1, 10.5, 6, 15],
          "text-max-width": 7,
          "text-padding": 6,
          "symbol-sort-key": ["get", "rank"],
        },
        paint: { ...paint["country-names"], "text-halo-width": 1.2 },
      },
    ],
  };
  return tiles ? withTiles(style, tiles) : style;
}

/** Raster tiles instead of the land; the names come with the tiles. */
function withTiles(style: StyleSpecification, { url, attribution }: Tiles): StyleSpecification {
  const hidden = new Set(["land", "borders", "graticule", "country-names"]);
  style.sources.tiles = { type: "raster", tiles: [url], tileSize: 256, attribution };
  const kept = style.layers.filter(({ id }) => !hidden.has(id));
  return { ...style, layers: [...kept, { id: "tiles", type: "raster", source: "tiles" }] };
}
