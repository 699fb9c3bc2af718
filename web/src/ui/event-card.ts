// One event, opened: where, when, and all of its attributes, as text.
import { html, nothing } from "lit";
import { customElement } from "lit/decorators.js";
import { describe } from "../model/geometry";
import { ago, clock } from "../model/times";
import { ticks } from "../state/ticker";
import { openEvent } from "../state/view";
import { PageElement } from "./element";
import { icon } from "./icons";

/** Longer values are cut: they are data, not something to read. */
const MOST_SHOWN = 2000;

export function written(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text;
}

@customElement("event-card")
export class EventCard extends PageElement {
  #opener: Element | null = null;

  constructor() {
    super(openEvent, ticks);
  }

  override connectedCallback(): void {
    super.connectedCallback();
    addEventListener("keydown", this.#escape);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    removeEventListener("keydown", this.#escape);
  }

  override willUpdate(): void {
    if (openEvent.value && !this.contains(document.activeElement))
      this.#opener = document.activeElement;
  }

  #escape = (event: KeyboardEvent): void => {
    if (event.key === "Escape" && !event.defaultPrevented && openEvent.value) this.close();
  };

  /** Close it; whoever was in it goes back to where it was opened from. */
  private close(): void {
    const back = this.contains(document.activeElement) ? this.#opener : null;
    openEvent.value = null;
    if (back instanceof HTMLElement) back.focus();
  }

  override render() {
    const event = openEvent.value;
    if (!event) return nothing;
    const rows = Object.entries(event.properties);
    return html`<section class="event-card card" aria-label="Event">
      <header>
        <h2 title=${event.id}>${event.id}</h2>
        <button
          class="quiet icon-only"
          aria-label="Close"
          @click=${this.close}
        >
          ${icon("close")}
        </button>
      </header>
      <p class="hint">${describe(event.geometry)}</p>
      <p class="hint">${clock(event.time)}, ${ago(event.time)}${event.publisher ? ` · by ${event.publisher}` : ""}</p>
      ${
        rows.length === 0
          ? html`<p class="hint">It has no attributes.</p>`
          : html`<dl tabindex="0" aria-label="Attributes">
              ${rows.map(([name, value]) => html`<div><dt>${name}</dt><dd>${written(value)}</dd></div>`)}
            </dl>`
      }
    </section>`;
  }
}
