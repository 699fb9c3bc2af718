// The countries of the base map: their names, labels and shapes.
import type { Feature, FeatureCollection, MultiPolygon, Polygon } from "geojson";
import detailedUrl from "../generated/countries-50m.json?url";
import type { PlainGeometry } from "../model/geometry";
import { COUNTRIES_URL } from "./base-style";

interface CountryProperties {
  name: string;
  rank: number;
  label: [number, number];
}

export type Countries = FeatureCollection<Polygon | MultiPolygon, CountryProperties>;

const loaded = new Map<string, Promise<Countries>>();

function load(url: string): Promise<Countries> {
  const known = loaded.get(url);
  if (known) return known;
  const asked = fetched(url);
  loaded.set(url, asked);
  asked.catch(() => loaded.delete(url));
  return asked;
}

async function fetched(url: string): Promise<Countries> {
  const answer = await fetch(url).catch(() => null);
  if (!answer?.ok) throw new Error("The shapes of the countries cannot be loaded.");
  return (await answer.json()) as Countries;
}

export const coarseCountries = () => load(COUNTRIES_URL);
export const detailedCountries = () => load(detailedUrl);

export function labelsOf({ features }: Countries): FeatureCollection {
  return {
    type: "FeatureCollection",
    features: features.map(({ properties: { name, rank, label } }) => ({
      type: "Feature",
      properties: { name, rank },
      geometry: { type: "Point", coordinates: label },
    })),
  };
}

export async function countryNames(): Promise<string[]> {
  const { features } = await detailedCountries();
  return features.map(({ properties }) => properties.name).sort((a, b) => a.localeCompare(b));
}

export interface Country {
  name: string;
  geometry: PlainGeometry;
}

/** The shape of a country by its name, in whatever case; null where there is none. */
export async function countryShape(name: string): Promise<Country | null> {
  const wanted = name.trim().toLowerCase();
  const { features } = await detailedCountries();
  const found = features.find((country: Feature<Polygon | MultiPolygon, CountryProperties>) => {
    return country.properties.name.toLowerCase() === wanted;
  });
  return found ? { name: found.properties.name, geometry: found.geometry } : null;
}
