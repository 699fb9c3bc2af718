// The fields of an attribute's name and of its value, with what was seen so far to choose from.
import { html, type TemplateResult } from "lit";
import { attributeOf, attributes } from "../state/attributes";
import { fieldValue } from "./element";

const MOST_VALUES = 50;

interface Field {
  /** Tells the lists of several rows apart. */
  id: string;
  value: string;
  placeholder?: string;
  change(text: string): void;
}

/** The names of all attributes, for the fields whose id begins so. */
export function attributeNames(id: string): TemplateResult {
  return html`<datalist id="${id}-names">
    ${attributes.value.map(({ name }) => html`<option value=${name}></option>`)}
  </datalist>`;
}

/** The field of a name; it tells its text once it is left, so that half a name means nothing. */
export function nameField({ id, value, change }: Field): TemplateResult {
  return html`<input
    aria-label="Attribute"
    list="${id}-names"
    placeholder="attribute"
    autocomplete="off"
    .value=${value}
    @change=${(event: Event) => change(fieldValue(event).trim())}
  />`;
}

export function valueField(attribute: string, field: Field): TemplateResult {
  const values = (attributeOf(attribute)?.values ?? []).slice(0, MOST_VALUES);
  return html`<input
      aria-label="Value"
      list="${field.id}-values"
      placeholder=${field.placeholder ?? "value"}
      autocomplete="off"
      .value=${field.value}
      @input=${(event: Event) => field.change(fieldValue(event))}
    />
    <datalist id="${field.id}-values">
      ${values.map((value) => html`<option value=${String(value)}></option>`)}
    </datalist>`;
}
