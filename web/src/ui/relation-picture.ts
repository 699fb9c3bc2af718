// Small pictures of the relations: the area in grey, an event that matches in the accent colour.
import { html, type SVGTemplateResult, svg, type TemplateResult } from "lit";
import type { Kind } from "../model/geometry";
import type { Relation } from "../model/relations";

/** Numbers of a shape: a point has 2, a rectangle 4 (x, y, width, height), a line 2 per vertex. */
type Shape =
  | ["point", number, number]
  | ["line", ...number[]]
  | ["area", number, number, number, number];

interface Picture {
  /** Where the picture needs the area elsewhere than usual. */
  area?: Shape;
  events: Shape[];
}

const AREA: Record<Kind, Shape> = {
  area: ["area", 6, 8, 24, 20],
  line: ["line", 6, 28, 42, 8],
  point: ["point", 24, 18],
};

const SAME_POINT: Picture = { events: [["point", 24, 18]] };

type Table = Partial<Record<Relation, Picture>>;

const POINT_AREA: Table = {
  intersects: {
    events: [
      ["point", 18, 18],
      ["point", 30, 18],
    ],
  },
  within: { events: [["point", 18, 18]] },
  coveredby: {
    events: [
      ["point", 16, 15],
      ["point", 30, 22],
    ],
  },
  touches: { events: [["point", 30, 18]] },
  disjoint: { events: [["point", 40, 18]] },
};

const LINE_AREA: Table = {
  intersects: {
    events: [
      ["line", 16, 14, 43, 10],
      ["line", 11, 23, 24, 21],
    ],
  },
  within: { events: [["line", 11, 23, 25, 13]] },
  coveredby: { events: [["line", 11, 14, 30, 12, 30, 24]] },
  crosses: { events: [["line", 14, 22, 43, 12]] },
  touches: { events: [["line", 30, 20, 43, 11]] },
  disjoint: { events: [["line", 36, 26, 43, 10]] },
};

const AREA_AREA: Table = {
  intersects: { events: [["area", 20, 14, 23, 17]] },
  within: { events: [["area", 12, 13, 12, 10]] },
  coveredby: { events: [["area", 16, 13, 14, 10]] },
  contains: { area: ["area", 15, 12, 16, 12], events: [["area", 7, 5, 33, 26]] },
  covers: { area: ["area", 7, 12, 20, 12], events: [["area", 7, 5, 33, 26]] },
  overlaps: { events: [["area", 20, 14, 23, 17]] },
  touches: { events: [["area", 30, 12, 13, 12]] },
  equals: { events: [["area", 6, 8, 24, 20]] },
  disjoint: { events: [["area", 35, 12, 10, 12]] },
};

const POINT_LINE: Table = {
  intersects: { events: [["point", 24, 18]] },
  within: { events: [["point", 24, 18]] },
  coveredby: {
    events: [
      ["point", 20, 20.2],
      ["point", 42, 8],
    ],
  },
  touches: { events: [["point", 42, 8]] },
  disjoint: { events: [["point", 34, 27]] },
};

const LINE_LINE: Table = {
  intersects: { events: [["line", 14, 8, 34, 28]] },
  within: { events: [["line", 15, 23, 33, 13]] },
  coveredby: { events: [["line", 21, 19.7, 42, 8]] },
  contains: { area: ["line", 17, 21.9, 31, 14.1], events: [["line", 6, 28, 42, 8]] },
  covers: { area: ["line", 6, 28, 26, 16.9], events: [["line", 6, 28, 42, 8]] },
  overlaps: { area: ["line", 4, 29.1, 30, 14.7], events: [["line", 18, 21.3, 44, 6.9]] },
  crosses: { events: [["line", 14, 8, 34, 28]] },
  touches: { events: [["line", 42, 8, 40, 29]] },
  equals: { events: [["line", 6, 28, 42, 8]] },
  disjoint: { events: [["line", 8, 12, 26, 5]] },
};

const AREA_LINE: Table = {
  intersects: { events: [["area", 20, 6, 22, 20]] },
  contains: { area: ["line", 14, 24, 34, 12], events: [["area", 5, 5, 38, 26]] },
  covers: { area: ["line", 6, 28, 34, 12], events: [["area", 6, 6, 36, 22]] },
  crosses: { events: [["area", 22, 4, 23, 20]] },
  touches: { events: [["area", 24, 18, 16, 13]] },
  disjoint: { events: [["area", 31, 21, 12, 10]] },
};

const POINT_POINT: Table = {
  intersects: SAME_POINT,
  within: SAME_POINT,
  coveredby: SAME_POINT,
  contains: SAME_POINT,
  covers: SAME_POINT,
  equals: SAME_POINT,
  disjoint: { events: [["point", 37, 11]] },
};

const LINE_POINT: Table = {
  intersects: { events: [["line", 8, 27, 40, 9]] },
  contains: { events: [["line", 8, 27, 40, 9]] },
  covers: { events: [["line", 24, 18, 42, 8]] },
  touches: { events: [["line", 24, 18, 42, 8]] },
  disjoint: { events: [["line", 32, 28, 43, 8]] },
};

const AREA_POINT: Table = {
  intersects: { events: [["area", 12, 8, 24, 20]] },
  contains: { events: [["area", 12, 8, 24, 20]] },
  covers: { events: [["area", 24, 8, 19, 20]] },
  touches: { events: [["area", 24, 8, 19, 20]] },
  disjoint: { events: [["area", 31, 12, 13, 14]] },
};

/** By the kind of the event, then by that of the area. */
const PICTURES: Record<Kind, Record<Kind, Table>> = {
  point: { point: POINT_POINT, line: POINT_LINE, area: POINT_AREA },
  line: { point: LINE_POINT, line: LINE_LINE, area: LINE_AREA },
  area: { point: AREA_POINT, line: AREA_LINE, area: AREA_AREA },
};

export function pictureOf(relation: Relation, event: Kind, area: Kind): Picture | undefined {
  return PICTURES[event][area][relation];
}

function draw([kind, ...n]: Shape, role: "area" | "event"): SVGTemplateResult {
  const name = `pic-${role} pic-${kind}`;
  if (kind === "point")
    return svg`<circle class=${name} cx=${n[0] ?? 0} cy=${n[1] ?? 0} r=${role === "area" ? 5.5 : 3.2}/>`;
  if (kind === "line") return svg`<polyline class=${name} points=${n.join(" ")}/>`;
  const [x = 0, y = 0, width = 0, height = 0] = n;
  return svg`<rect class=${name} x=${x} y=${y} width=${width} height=${height} rx="2"/>`;
}

export function relationPicture(relation: Relation, event: Kind, area: Kind): TemplateResult {
  const picture = pictureOf(relation, event, area);
  return html`<svg class="picture" viewBox="0 0 48 36" aria-hidden="true" focusable="false">
    ${draw(picture?.area ?? AREA[area], "area")}
    ${picture?.events.map((shape) => draw(shape, "event"))}
  </svg>`;
}
