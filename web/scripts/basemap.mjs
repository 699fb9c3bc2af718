// Writes the built-in base map: Natural Earth countries, cut at the antimeridian.
//
// world-atlas holds shapes that run across the antimeridian on the sphere; drawn as they are on a
// flat map they become bands around the world. Projecting them to the plane of longitudes and
// latitudes cuts them where the plane ends. A union with nothing else then mends the rings that
// cross themselves, so that each country can be the area of a subscription.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { geoArea, geoCentroid, geoEquirectangular, geoGraticule } from "d3-geo";
import { geoProject } from "d3-geo-projection";
import { union } from "polyclip-ts";
import { feature } from "topojson-client";

const require = createRequire(import.meta.url);
const target = new URL("../src/generated/", import.meta.url);
const SPHERE = 4 * Math.PI;

// The plane in degrees, with y growing downwards as the tool that groups holes expects.
const plane = geoEquirectangular()
  .scale(180 / Math.PI)
  .translate([0, 0])
  .precision(0);

function within(value, limit) {
  return Math.max(-limit, Math.min(limit, value));
}

function ring(points, digits) {
  const found = [];
  for (const [x, y] of points) {
    const point = [within(+x.toFixed(digits), 180), within(-y.toFixed(digits), 90)];
    const last = found.at(-1);
    if (!last || last[0] !== point[0] || last[1] !== point[1]) found.push(point);
  }
  return found.length >= 4 ? found : null;
}

function polygons(geometry, digits) {
  const all = geometry.type === "Polygon" ? [geometry.coordinates] : geometry.coordinates;
  return all
    .map((rings) => rings.map((points) => ring(points, digits)))
    .filter((rings) => rings[0])
    .map((rings) => rings.filter(Boolean));
}

function largest(geometry) {
  if (geometry.type === "Polygon") return geometry;
  const parts = geometry.coordinates.map((coordinates) => ({ type: "Polygon", coordinates }));
  return parts.reduce((best, part) => (geoArea(part) > geoArea(best) ? part : best));
}

function country(found, digits) {
  const cut = geoProject(found, plane);
  const coordinates = union(polygons(cut.geometry, digits));
  const part = largest(found.geometry);
  const label = geoCentroid(part).map((value) => +value.toFixed(2));
  const share = geoArea(part) / SPHERE;
  const rank = Math.max(1, Math.min(9, Math.round(-Math.log2(share) - 4)));
  return {
    type: "Feature",
    properties: { name: found.properties.name, rank, label },
    geometry:
      coordinates.length === 1
        ? { type: "Polygon", coordinates: coordinates[0] }
        : { type: "MultiPolygon", coordinates },
  };
}

function write(scale, digits) {
  const atlas = JSON.parse(readFileSync(require.resolve(`world-atlas/countries-${scale}.json`)));
  const features = feature(atlas, atlas.objects.countries)
    .features.map((found) => country(found, digits))
    .filter((found) => found.geometry.coordinates.length > 0);
  const path = new URL(`countries-${scale}.json`, target);
  writeFileSync(path, JSON.stringify({ type: "FeatureCollection", features }));
}

function writeGraticule() {
  const geometry = geoGraticule().step([30, 30]).precision(5)();
  geometry.coordinates = geometry.coordinates.map((line) =>
    line.map(([x, y]) => [+x.toFixed(1), +y.toFixed(1)]),
  );
  const path = new URL("graticule.json", target);
  writeFileSync(path, JSON.stringify({ type: "Feature", properties: {}, geometry }));
}

mkdirSync(target, { recursive: true });
write("110m", 3);
write("50m", 2);
writeGraticule();
