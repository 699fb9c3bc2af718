// Starts the page: the map first, then whoever signs in gets everything else.
import type { Map as MapLibre } from "maplibre-gl";
import "./styles/main.css";
import { answer, service } from "./api/client";
import { wordsFor } from "./api/problem";
import type { Tiles } from "./map/base-style";
import { openOnClick } from "./map/clicks";
import { Drawing, tool } from "./map/drawing";
import { addEventLayers } from "./map/event-layers";
import { EventPainter } from "./map/event-painter";
import { createMap, makeRoom, showGeometry } from "./map/map-view";
import { addSubscriptionLayers, paintSubscriptions } from "./map/subscription-layers";
import type { PlainGeometry } from "./model/geometry";
import { account, followLink, resume } from "./state/session";
import { followTheme, panel, say } from "./state/view";
import { begin, end } from "./state/visit";
import "./ui/app-shell";
import type { AppShell } from "./ui/app-shell";
import type { DrawRequest } from "./ui/area-picker";

const TILES_PATIENCE = 1500;

async function tiles(): Promise<Tiles | null> {
  const signal = AbortSignal.timeout(TILES_PATIENCE);
  try {
    return (await answer(service.GET("/v1/client", { signal }))).tiles;
  } catch {
    return null;
  }
}

function prepare(map: MapLibre): void {
  addEventLayers(map);
  addSubscriptionLayers(map, "shapes-fill");
  paintSubscriptions(map);
  openOnClick(map);
  new EventPainter(map);
  performance.mark("map-ready");
}

function listen(map: MapLibre, shell: AppShell): void {
  const drawing = new Drawing(map);
  shell.addEventListener("draw", (event) => {
    const { tool, done } = (event as CustomEvent<DrawRequest>).detail;
    drawing.begin(tool, done);
  });
  shell.addEventListener("cancel-drawing", () => drawing.cancel());
  shell.addEventListener("show-geometry", (event) => {
    showGeometry(map, (event as CustomEvent<PlainGeometry>).detail);
  });
  for (const cause of [panel, account]) cause.subscribe(() => drawing.cancel());
  addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || tool.value === null) return;
    event.preventDefault();
    drawing.cancel();
  });
}

/** The map; where the browser cannot draw one, the lists still serve. */
async function drawn(container: HTMLElement, shell: AppShell): Promise<MapLibre | null> {
  const offered = await tiles();
  try {
    return createMap(container, offered);
  } catch (error) {
    console.error(error);
    shell.reason = "This browser cannot draw the map: WebGL is switched off or missing.";
    return null;
  }
}

async function start(): Promise<void> {
  followTheme();
  const shell = document.querySelector<AppShell>("app-shell");
  const container = document.getElementById("map");
  if (!shell || !container) return;
  const map = await drawn(container, shell);
  shell.map = map;
  if (map) listen(map, shell);
  const ready = map ? map.once("load").then(() => prepare(map)) : Promise.resolve();
  account.subscribe(() => {
    if (map) makeRoom(map, account.value !== null);
    if (account.value) void begin(account.value, ready);
    else end();
  });
  const refused = (error: unknown) => {
    if (account.value) say(wordsFor(error), "bad");
    else shell.reason = wordsFor(error);
  };
  addEventListener("hashchange", () => void followLink().catch(refused));
  await resume().catch(refused);
}

void start();
