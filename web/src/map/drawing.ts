// Drawing on the map, by Terra Draw: one geometry at a time, then back to looking.
import type { Map as MapLibre } from "maplibre-gl";
import {
  TerraDraw,
  TerraDrawCircleMode,
  TerraDrawLineStringMode,
  TerraDrawPointMode,
  TerraDrawPolygonMode,
  TerraDrawRectangleMode,
} from "terra-draw";
import { TerraDrawMapLibreGLAdapter } from "terra-draw-maplibre-gl-adapter";
import { type PlainGeometry, unwrapped } from "../model/geometry";
import { Observable } from "../state/observable";

export const TOOLS = ["point", "linestring", "polygon", "rectangle", "circle"] as const;
export type Tool = (typeof TOOLS)[number];

export const TOOL_LABELS: Record<Tool, string> = {
  point: "Point",
  linestring: "Line",
  polygon: "Polygon",
  rectangle: "Rectangle",
  circle: "Circle",
};

const TOOL_HINTS: Record<Tool, string> = {
  point: "Click the map to place the point.",
  linestring: "Click along the line; click the last vertex again, or press Enter, to end it.",
  polygon: "Click the corners; click the first one again, or press Enter, to close it.",
  rectangle: "Click one corner, then the opposite one.",
  circle: "Click the centre, then the edge.",
};

/** How to draw with a tool: by fingers, or by mouse and keyboard. */
export function hintFor(used: Tool): string {
  const words = TOOL_HINTS[used];
  if (!matchMedia("(pointer: coarse)").matches) return words;
  return words
    .replace(", or press Enter,", "")
    .replaceAll("Click", "Tap")
    .replaceAll("click", "tap");
}

/** The tool in use, or null. */
export const tool = new Observable<Tool | null>(null);

const COLOUR = "#ff3d8b";
const STYLES = {
  fillColor: COLOUR,
  fillOpacity: 0.12,
  outlineColor: COLOUR,
  outlineWidth: 2.5,
  lineStringColor: COLOUR,
  lineStringWidth: 2.5,
  pointColor: COLOUR,
  pointWidth: 6,
  closingPointColor: "#ffffff",
  closingPointOutlineColor: COLOUR,
  closingPointOutlineWidth: 3,
  closingPointWidth: 6,
} as never;

/** A hand is not steady: what moves less than this between press and release is a click. */
const STEADY = 8;

type Done = (geometry: PlainGeometry) => void;

export class Drawing {
  #draw: TerraDraw;
  #done: Done = () => {};

  constructor(map: MapLibre) {
    this.#draw = new TerraDraw({
      adapter: new TerraDrawMapLibreGLAdapter({
        map,
        coordinatePrecision: 6,
        minPixelDragDistance: STEADY,
        minPixelDragDistanceDrawing: STEADY,
      }),
      modes: [
        new TerraDrawPointMode({ styles: STYLES }),
        new TerraDrawLineStringMode({ styles: STYLES }),
        new TerraDrawPolygonMode({ styles: STYLES }),
        new TerraDrawRectangleMode({ styles: STYLES }),
        new TerraDrawCircleMode({ styles: STYLES }),
      ],
    });
    this.#draw.on("finish", (id) => this.#finish(id));
    map.getCanvas().addEventListener("pointerdown", arrive, { capture: true });
  }

  /** Let the person draw one geometry; Escape gives up. */
  begin(next: Tool, done: Done): void {
    this.cancel();
    this.#done = done;
    this.#draw.start();
    this.#draw.setMode(next);
    tool.value = next;
  }

  cancel(): void {
    if (!this.#draw.enabled) return;
    this.#draw.clear();
    this.#draw.stop();
    tool.value = null;
  }

  #finish(id: string | number): void {
    const drawn = this.#draw.getSnapshotFeature(id);
    const done = this.#done;
    setTimeout(() => {
      this.cancel();
      if (drawn) done(unwrapped(drawn.geometry as PlainGeometry));
    });
  }
}

/** A finger comes from nowhere. A mouse moves to where it is pressed, and what is drawn follows. */
function arrive(event: PointerEvent): void {
  if (tool.value === null || event.pointerType !== "touch" || !event.isPrimary) return;
  const { clientX, clientY } = event;
  const move = { clientX, clientY, isPrimary: true, bubbles: true, cancelable: true };
  event.target?.dispatchEvent(new PointerEvent("pointermove", move));
}
