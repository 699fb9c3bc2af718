// Choosing the area: draw it, pick a country, or paste it.
import { html, nothing } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { wordsFor } from "../api/problem";
import { countryNames, countryShape } from "../map/countries";
import { TOOL_LABELS, TOOLS, type Tool, tool } from "../map/drawing";
import { InputError, readArea } from "../model/area-input";
import { describe, type PlainGeometry } from "../model/geometry";
import { fieldValue, PageElement } from "./element";
import { icon } from "./icons";

export interface DrawRequest {
  tool: Tool;
  done: (geometry: PlainGeometry) => void;
}

/** What was chosen; `place` is its name, where it has one. */
export interface Area {
  geometry: PlainGeometry | null;
  place: string;
}

/** Fires `area` with the geometry, and asks for drawing by `draw`. */
@customElement("area-picker")
export class AreaPicker extends PageElement {
  @property({ attribute: false }) geometry: PlainGeometry | null = null;
  /** An event needs a place; a subscription can do without. */
  @property({ type: Boolean }) needed = false;
  @state() private names: string[] = [];
  @state() private error = "";
  @state() private countryError = "";
  #drawing: Tool | null = null;

  constructor() {
    super(tool);
  }

  override connectedCallback(): void {
    super.connectedCallback();
    countryNames().then(
      (names) => {
        this.names = names;
      },
      () => {},
    );
  }

  /** Whoever drew, or gave it up, goes on from the tool. */
  override updated(): void {
    if (this.#drawing && tool.value === null)
      this.querySelector<HTMLElement>(`[data-tool="${this.#drawing}"]`)?.focus();
    this.#drawing = tool.value;
  }

  private give(geometry: PlainGeometry | null, { place = "", show = true } = {}): void {
    this.error = this.countryError = "";
    const country = this.querySelector<HTMLInputElement>("#country");
    if (country) country.value = place;
    const detail: Area = { geometry, place };
    this.dispatchEvent(new CustomEvent("area", { detail }));
    if (geometry && show)
      this.dispatchEvent(new CustomEvent("show-geometry", { bubbles: true, detail: geometry }));
  }

  private draw(chosen: Tool): void {
    const detail: DrawRequest = {
      tool: chosen,
      done: (geometry) => this.give(geometry, { show: false }),
    };
    this.dispatchEvent(new CustomEvent("draw", { bubbles: true, detail }));
  }

  private async pick(event: Event): Promise<void> {
    const name = fieldValue(event);
    if (name.trim() === "") return;
    try {
      const shape = await countryShape(name);
      if (shape) this.give(shape.geometry, { place: shape.name });
      else this.countryError = `There is no country “${name}” on the map.`;
    } catch (error) {
      this.countryError = wordsFor(error);
    }
  }

  /** Enter takes the country, and does not send the form around it. */
  private enter(event: KeyboardEvent): void {
    if (event.key !== "Enter" || event.isComposing) return;
    event.preventDefault();
    void this.pick(event);
  }

  private paste(): void {
    const text = this.querySelector("textarea")?.value ?? "";
    try {
      this.give(readArea(text));
      this.querySelector("details")?.removeAttribute("open");
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      this.error = error.message;
    }
  }

  override render() {
    return html`<div class="tools" role="group" aria-label="Draw">
        ${TOOLS.map(
          (one) =>
            html`<button
              type="button"
              class="tool"
              data-tool=${one}
              aria-pressed=${tool.value === one ? "true" : "false"}
              @click=${() => this.draw(one)}
            >
              ${icon(one)}<span>${TOOL_LABELS[one]}</span>
            </button>`,
        )}
      </div>
      <div class="field">
        <label for="country">or a country</label>
        <input
          id="country"
          list="countries"
          placeholder="Switzerland"
          autocomplete="off"
          aria-invalid=${this.countryError ? "true" : "false"}
          aria-describedby="country-error"
          @change=${this.pick}
          @keydown=${this.enter}
        />
        <datalist id="countries">${this.names.map((name) => html`<option value=${name}></option>`)}</datalist>
        <p id="country-error" class="error" role="alert">${this.countryError || nothing}</p>
      </div>
      <details class="fold">
        <summary>or type it: coordinates, GeoJSON, WKT</summary>
        <label class="hidden" for="paste">Bounding box, GeoJSON or WKT</label>
        <textarea
          id="paste"
          rows="3"
          spellcheck="false"
          placeholder="5.9, 45.8, 10.5, 47.8   or   POLYGON((…))"
          aria-invalid=${this.error ? "true" : "false"}
          aria-describedby="paste-error"
        ></textarea>
        <p id="paste-error" class="error" role="alert">${this.error || nothing}</p>
        <button type="button" class="secondary" @click=${this.paste}>Use it</button>
      </details>
      ${
        this.geometry
          ? html`<p class="chosen">
              ${icon("pin")}<span>${describe(this.geometry)}</span>
              <button type="button" class="quiet small" @click=${() => this.give(null)}>Remove</button>
            </p>`
          : html`<p class="hint">${this.needed ? "Choose where it happens." : "Without an area, events from anywhere count."}</p>`
      }`;
  }
}
