// The base of all parts of the page: light DOM, so that one style sheet serves everything.
import { LitElement } from "lit";
import { Watch, type Watchable } from "../state/observable";

export class PageElement extends LitElement {
  constructor(...watched: Watchable[]) {
    super();
    new Watch(this, watched);
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }
}

/** The text of the field that an event came from. */
export function fieldValue(event: Event): string {
  return (event.target as HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement).value;
}
