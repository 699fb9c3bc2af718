// Making or changing a subscription: area, relation, conditions, what it would have matched.
import { html, nothing, type TemplateResult } from "lit";
import { customElement, state } from "lit/decorators.js";
import { wordsFor } from "../api/problem";
import { kindOf } from "../model/geometry";
import { clock, count } from "../model/times";
import {
  change,
  type Draft,
  dismissDraft,
  draft,
  isAskable,
  type Preview,
  preview,
  saveDraft,
  suggestedName,
} from "../state/draft";
import { eventOf } from "../state/replay";
import { selected } from "../state/subscriptions";
import { say } from "../state/view";
import type { Area } from "./area-picker";
import "./area-picker";
import "./conditions-form";
import "./relation-picker";
import { fieldValue, PageElement } from "./element";
import { icon } from "./icons";

type Done = Extract<Preview, { state: "done" }>;

@customElement("subscription-editor")
export class SubscriptionEditor extends PageElement {
  @state() private error = "";
  @state() private busy = false;

  constructor() {
    super(draft, preview);
  }

  private async submit(event: Event): Promise<void> {
    event.preventDefault();
    this.busy = true;
    this.error = "";
    const fresh = !draft.value?.id;
    try {
      const saved = await saveDraft();
      selected.value = saved.id;
      say(fresh ? `Subscribed to “${saved.name}”.` : `“${saved.name}” is changed.`);
    } catch (error) {
      this.error = wordsFor(error);
    } finally {
      this.busy = false;
    }
  }

  private outcome(): TemplateResult {
    const found = preview.value;
    switch (found.state) {
      case "empty":
        return html`<span class="hint">Choose an area or a condition to see what it would have matched.</span>`;
      case "asking":
        return html`<span class="hint">Looking at the last events…</span>`;
      case "refused":
        return html`<span class="error">${found.inFilter ? `The conditions cannot be understood: ${found.words}` : found.words}</span>`;
      case "unknown":
        return html`<span class="error">${found.words}</span>`;
      case "done":
        return this.told(found);
    }
  }

  private told({ matched, considered, since, keys }: Done): TemplateResult {
    if (considered === 0)
      return html`<span class="hint">There are no events to try it on yet.</span>`;
    const from = since ? `, since ${clock(Date.parse(since))}` : "";
    return html`<strong class="big">${matched.toLocaleString("en")}</strong>
      <span>of the last ${count(considered, "event")}${from}, would have matched${this.drawn(matched, keys)}</span>`;
  }

  /** What cannot be pointed at, because the map does not have it. */
  private drawn(matched: number, keys: readonly string[]): string {
    const there = keys.filter((key) => eventOf(key) !== null).length;
    return there < matched ? `; ${there.toLocaleString("en")} of them are on the map` : "";
  }

  private area(current: Draft): TemplateResult {
    return html`<fieldset>
        <legend>Area</legend>
        <area-picker
          .geometry=${current.geometry}
          @area=${(event: CustomEvent<Area>) => change(event.detail)}
        ></area-picker>
      </fieldset>
      ${
        current.geometry
          ? html`<fieldset>
              <legend>Relation</legend>
              <relation-picker
                .area=${kindOf(current.geometry)}
                .eventKind=${current.eventKind}
                .relation=${current.relation}
                @relation=${(event: CustomEvent<Draft["relation"]>) => change({ relation: event.detail })}
                @event-kind=${(event: CustomEvent<Draft["eventKind"]>) => change({ eventKind: event.detail })}
              ></relation-picker>
            </fieldset>`
          : nothing
      }`;
  }

  override render() {
    const current = draft.value;
    if (!current) return nothing;
    const found = preview.value;
    const filterError = found.state === "refused" && found.inFilter ? found.words : "";
    const position = found.state === "refused" ? found.position : null;
    return html`<form class="editor" @submit=${this.submit}>
      <div class="panel-body">
        <header class="detail-head">
          <button type="button" class="quiet icon-only" aria-label="Back without saving" @click=${dismissDraft}>
            ${icon("back")}
          </button>
          <h2 tabindex="-1">${current.id ? "Edit subscription" : "New subscription"}</h2>
        </header>
        <div class="field">
          <label for="name">Name</label>
          <input
            id="name"
            maxlength="100"
            placeholder=${suggestedName(current)}
            .value=${current.name}
            @input=${(event: Event) => change({ name: fieldValue(event) })}
          />
        </div>
        ${this.area(current)}
        <fieldset>
          <legend>Conditions</legend>
          <conditions-form .draft=${current} .error=${filterError} .position=${position}></conditions-form>
        </fieldset>
      </div>
      <footer class="panel-foot">
        <p class="outcome" role="status" aria-live="polite">${this.outcome()}</p>
        <p class="error" role="alert">${this.error || nothing}</p>
        <button class="primary wide" ?disabled=${this.busy || !isAskable(current) || found.state === "refused"}>
          ${current.id ? "Save changes" : "Subscribe"}
        </button>
      </footer>
    </form>`;
  }
}
