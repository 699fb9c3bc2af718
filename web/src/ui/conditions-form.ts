// Conditions on attributes: rows of a form, or CQL2 text with its error shown in place.
import { html, nothing, type TemplateResult } from "lit";
import { customElement, property } from "lit/decorators.js";
import {
  COMPARISON_LABELS,
  type Comparison,
  type Condition,
  comparisonsFor,
  needsValue,
} from "../model/conditions";
import { readFilter } from "../model/conditions-reader";
import { attributeOf, attributes, typesOf } from "../state/attributes";
import { change, type Draft, filterOf } from "../state/draft";
import { attributeNames, nameField, valueField } from "./attribute-fields";
import { fieldValue, PageElement } from "./element";
import { icon } from "./icons";

@customElement("conditions-form")
export class ConditionsForm extends PageElement {
  @property({ attribute: false }) draft!: Draft;
  @property() error = "";
  @property({ type: Number }) position: number | null = null;

  constructor() {
    super(attributes);
  }

  private set(at: number, part: Partial<Condition>): void {
    const rows = this.draft.rows.map((row, place) => (place === at ? { ...row, ...part } : row));
    change({ rows });
  }

  private choose(at: number, attribute: string): void {
    const fitting = comparisonsFor(typesOf(attribute));
    const known = this.draft.rows[at]?.comparison ?? "=";
    const comparison = fitting.includes(known) ? known : (fitting[0] ?? "=");
    this.set(at, { attribute, comparison, literal: undefined });
  }

  private add(): void {
    change({ rows: [...this.draft.rows, { attribute: "", comparison: "=", value: "" }] });
  }

  private drop(at: number): void {
    change({ rows: this.draft.rows.filter((_, place) => place !== at) });
  }

  private toText(): void {
    change({ mode: "text", text: filterOf(this.draft) });
  }

  private toForm(): void {
    const form = readFilter(this.draft.text.trim());
    if (form) change({ mode: "form", ...form });
  }

  private row(row: Condition, at: number): TemplateResult {
    const known = attributeOf(row.attribute);
    const range = known?.min != null && known.max != null ? `${known.min} … ${known.max}` : "value";
    return html`<li class="condition">
      ${nameField({ id: "attribute", value: row.attribute, change: (text) => this.choose(at, text) })}
      <select
        aria-label="Comparison"
        @change=${(event: Event) => this.set(at, { comparison: fieldValue(event) as Comparison })}
      >
        ${this.comparisons(row).map(
          (one) =>
            html`<option value=${one} ?selected=${one === row.comparison}>${COMPARISON_LABELS[one]}</option>`,
        )}
      </select>
      ${
        needsValue(row.comparison)
          ? valueField(row.attribute, {
              id: `condition-${at}`,
              value: row.value,
              placeholder: row.comparison === "in" ? "a, b, c" : range,
              change: (value) => this.set(at, { value }),
            })
          : html`<span></span>`
      }
      <button type="button" class="quiet icon-only" aria-label="Remove this condition" @click=${() => this.drop(at)}>
        ${icon("close")}
      </button>
    </li>`;
  }

  /** What fits the attribute, and what is chosen already even where it does not. */
  private comparisons({ attribute, comparison }: Condition): Comparison[] {
    const fitting = comparisonsFor(typesOf(attribute));
    return fitting.includes(comparison) ? fitting : [comparison, ...fitting];
  }

  private form(): TemplateResult {
    const { rows, join } = this.draft;
    return html`${attributeNames("attribute")}
      ${
        rows.length > 1
          ? html`<label class="join"
              >Events must meet
              <select @change=${(event: Event) => change({ join: fieldValue(event) as Draft["join"] })}>
                <option value="AND" ?selected=${join === "AND"}>all of these</option>
                <option value="OR" ?selected=${join === "OR"}>any of these</option>
              </select></label
            >`
          : nothing
      }
      <ul class="conditions">${rows.map((row, at) => this.row(row, at))}</ul>
      <div class="toolbar">
        <button type="button" class="secondary" @click=${this.add}>${icon("plus")}Condition</button>
        <button type="button" class="quiet small" @click=${this.toText}>Write CQL2</button>
      </div>`;
  }

  private text(): TemplateResult {
    const { text } = this.draft;
    const simple = readFilter(text.trim()) !== null;
    return html`<div class="cql ${this.error ? "wrong" : ""}">
        ${this.error ? this.marked(text) : nothing}
        <label class="hidden" for="cql">Conditions in CQL2</label>
        <textarea
          id="cql"
          rows="4"
          spellcheck="false"
          autocapitalize="off"
          placeholder="mag >= 4.5 AND place LIKE '%Japan%'"
          aria-invalid=${this.error ? "true" : "false"}
          aria-describedby="cql-error"
          .value=${text}
          @input=${(event: Event) => change({ text: fieldValue(event) })}
          @scroll=${this.follow}
        ></textarea>
      </div>
      <div class="toolbar">
        <button type="button" class="quiet small" ?disabled=${!simple} @click=${this.toForm}>Use the form</button>
      </div>`;
  }

  /** The same text behind the field, with what is wrong underlined. */
  private marked(text: string): TemplateResult {
    const lead = text.length - text.trimStart().length;
    const at = Math.min(text.length, lead + (this.position ?? 0));
    const length = /^\S+/.exec(text.slice(at))?.[0].length ?? 0;
    return html`<div class="cql-marks" aria-hidden="true">${text.slice(0, at)}<mark>${text.slice(at, at + length) || " "}</mark>${text.slice(at + length)}</div>`;
  }

  private follow(event: Event): void {
    const marks = this.querySelector(".cql-marks");
    if (marks) marks.scrollTop = (event.target as HTMLElement).scrollTop;
  }

  override render() {
    return html`${this.draft.mode === "form" ? this.form() : this.text()}
      <p id="cql-error" class="error" role="alert">${this.error || nothing}</p>`;
  }
}
