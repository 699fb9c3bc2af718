// Buttons over the map: closer, farther, globe, theme.

import { html } from "lit";
import { customElement, property } from "lit/decorators.js";
import type { Map as MapLibre } from "maplibre-gl";
import { chooseTheme, globe, theme } from "../state/view";
import { PageElement } from "./element";
import { icon } from "./icons";

@customElement("map-controls")
export class MapControls extends PageElement {
  @property({ attribute: false }) map: MapLibre | null = null;

  constructor() {
    super(globe, theme);
  }

  override render() {
    const dark = theme.value === "dark";
    return html`<div class="controls" role="group" aria-label="Map controls">
      <button title="Zoom in" aria-label="Zoom in" @click=${() => this.map?.zoomIn()}>${icon("plus")}</button>
      <button title="Zoom out" aria-label="Zoom out" @click=${() => this.map?.zoomOut()}>${icon("minus")}</button>
      <button
        title=${globe.value ? "Flat map" : "Globe"}
        aria-label="Globe"
        aria-pressed=${globe.value ? "true" : "false"}
        @click=${() => {
          globe.value = !globe.value;
        }}
      >
        ${icon(globe.value ? "flat" : "globe")}
      </button>
      <button
        title=${dark ? "Light colours" : "Dark colours"}
        aria-label="Dark colours"
        aria-pressed=${dark ? "true" : "false"}
        @click=${() => chooseTheme(dark ? "light" : "dark")}
      >
        ${icon(dark ? "sun" : "moon")}
      </button>
    </div>`;
  }
}
