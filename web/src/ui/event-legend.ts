// The legend: what the colours mean, and by which attribute they are chosen.
import { html, type TemplateResult } from "lit";
import { customElement, state } from "lit/decorators.js";
import { colouring } from "../map/event-painter";
import { attributes } from "../state/attributes";
import { preview } from "../state/draft";
import { colourBy } from "../state/view";
import { fieldValue, PageElement } from "./element";

/** A dot in a colour; an attribute of SVG, because the page's policy forbids inline styles. */
function swatch(colour: string): TemplateResult {
  return html`<svg class="swatch" viewBox="0 0 12 12" aria-hidden="true">
    <circle cx="6" cy="6" r="6" fill=${colour} />
  </svg>`;
}

@customElement("event-legend")
export class EventLegend extends PageElement {
  @state() private open = innerWidth >= 1100;

  constructor() {
    super(colouring, attributes, colourBy, preview);
  }

  override render() {
    const names = attributes.value.map(({ name }) => name);
    const matches = preview.value.state === "done";
    return html`<details
      class="legend card"
      ?open=${this.open}
      @toggle=${(event: Event) => {
        this.open = (event.target as HTMLDetailsElement).open;
      }}
    >
      <summary>Legend</summary>
      <label for="colour-by">Colour by</label>
      <select
        id="colour-by"
        @change=${(event: Event) => {
          colourBy.value = fieldValue(event);
        }}
      >
        <option value="" ?selected=${!colourBy.value}>one colour</option>
        ${names.map((name) => html`<option value=${name} ?selected=${name === colourBy.value}>${name}</option>`)}
      </select>
      <ul>
        ${colouring.value.entries.map(
          ({ label, colour }) =>
            html`<li title=${label}>${swatch(colour)}<span>${label}</span></li>`,
        )}
        ${matches ? html`<li>${swatch("#ff3d8b")}would have matched</li>` : ""}
      </ul>
      <p class="hint"><span class="fade-bar" aria-hidden="true"></span>older events fade</p>
    </details>`;
  }
}
