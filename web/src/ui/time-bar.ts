// The time slider: live, or a moment of the last hours, replayed from the log.
import { html } from "lit";
import { customElement } from "lit/decorators.js";
import { shownCount } from "../map/event-painter";
import { ago, clock, count } from "../model/times";
import { type Connection, connection, loadingHistory, skipped } from "../state/live";
import { isCut } from "../state/replay";
import { ticks } from "../state/ticker";
import {
  chooseSpan,
  goLive,
  goTo,
  halt,
  moment,
  play,
  playing,
  SPANS,
  span,
} from "../state/timeline";
import { fieldValue, PageElement } from "./element";
import { icon } from "./icons";

const CONNECTION_WORDS: Record<Connection, string> = {
  open: "Live",
  waiting: "Waiting",
  closed: "Off",
};

/** Steps of the slider over the whole span. */
const STEPS = 1000;

@customElement("time-bar")
export class TimeBar extends PageElement {
  constructor() {
    super(span, moment, playing, shownCount, isCut, connection, loadingHistory, skipped, ticks);
  }

  private slide(event: Event): void {
    halt();
    const share = Number(fieldValue(event)) / STEPS;
    if (share >= 1) goLive();
    else goTo(Date.now() - span.value * (1 - share));
  }

  override render() {
    const now = Date.now();
    const at = moment.value;
    const place = at === null ? STEPS : Math.round((1 - (now - at) / span.value) * STEPS);
    const left = skipped.value ? `, ${count(skipped.value, "more", "more")} came too fast` : "";
    const cut = at !== null && isCut.value ? ", the newest of more" : "";
    const shown = `${count(shownCount.value, "event")}${cut}${left}`;
    return html`<section class="time-bar card" aria-label="Time">
      <button
        class="quiet icon-only"
        aria-label=${playing.value ? "Stop the replay" : "Replay"}
        title=${playing.value ? "Stop the replay" : "Replay"}
        @click=${() => (playing.value ? halt() : play())}
      >
        ${icon(playing.value ? "pause" : "play")}
      </button>
      <div class="time-track">
        <input
          type="range"
          min="0"
          max=${STEPS}
          aria-label="Moment shown"
          aria-valuetext=${at === null ? "now" : `${clock(at)}, ${ago(at)}`}
          .value=${String(place)}
          @input=${this.slide}
        />
        <div class="time-words">
          <span>${clock(now - span.value)}</span>
          <strong>${at === null ? shown : `${clock(at)} · ${shown}`}${loadingHistory.value ? " · loading…" : ""}</strong>
          <span>now</span>
        </div>
      </div>
      <label class="hidden" for="span">Time span</label>
      <select id="span" @change=${(event: Event) => chooseSpan(Number(fieldValue(event)))}>
        ${SPANS.map(
          ({ label, value }) =>
            html`<option value=${value} ?selected=${value === span.value}>${label}</option>`,
        )}
      </select>
      <button class="live ${at === null ? "on" : ""}" aria-pressed=${at === null ? "true" : "false"} @click=${goLive}>
        <span class="dot ${connection.value}"></span>${CONNECTION_WORDS[connection.value]}
      </button>
    </section>`;
  }
}
