// Choosing the relation: only those that are possible, each with its picture.
import { html } from "lit";
import { customElement, property } from "lit/decorators.js";
import { KINDS, type Kind } from "../model/geometry";
import { LABELS, meaning, possible, type Relation } from "../model/relations";
import { PageElement } from "./element";
import { relationPicture } from "./relation-picture";

const KIND_WORDS: Record<Kind, string> = { point: "points", line: "lines", area: "areas" };

/** Fires `relation` and `event-kind`. */
@customElement("relation-picker")
export class RelationPicker extends PageElement {
  @property({ attribute: false }) area: Kind = "area";
  @property({ attribute: false }) eventKind: Kind = "point";
  @property({ attribute: false }) relation: Relation = "intersects";

  private fire(name: string, detail: unknown): void {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }

  override render() {
    return html`<div class="segments" role="radiogroup" aria-label="Show what they mean for">
        <span class="hint">Show what they mean for</span>
        ${KINDS.map(
          (kind) =>
            html`<label class="segment">
              <input
                type="radio"
                name="event-kind"
                value=${kind}
                .checked=${kind === this.eventKind}
                @change=${() => this.fire("event-kind", kind)}
              />
              <span>${KIND_WORDS[kind]}</span>
            </label>`,
        )}
      </div>
      <div class="relations" role="radiogroup" aria-label="Relation: the event … your area">
        ${possible(this.eventKind, this.area).map((one) => this.choice(one))}
      </div>
      <p class="hint meaning" aria-live="polite">${meaning(this.relation, this.eventKind, this.area)}.</p>`;
  }

  private choice(one: Relation) {
    return html`<label class="relation" title=${meaning(one, this.eventKind, this.area)}>
      <input
        type="radio"
        name="relation"
        value=${one}
        .checked=${one === this.relation}
        @change=${() => this.fire("relation", one)}
      />
      ${relationPicture(one, this.eventKind, this.area)}
      <span>${LABELS[one]}</span>
    </label>`;
  }
}
