// Notes over the map: how to draw with the tool in use, and short messages.
import { html, nothing } from "lit";
import { customElement } from "lit/decorators.js";
import { hintFor, tool } from "../map/drawing";
import { toast } from "../state/view";
import { PageElement } from "./element";

@customElement("draw-hint")
export class DrawHint extends PageElement {
  constructor() {
    super(tool);
  }

  override render() {
    const cancel = () => this.dispatchEvent(new CustomEvent("cancel-drawing", { bubbles: true }));
    const used = tool.value;
    return html`<div class=${used ? "draw-hint card" : "hidden"}>
      <span role="status">${used ? hintFor(used) : nothing}</span>
      ${used ? html`<button class="quiet" @click=${cancel}>Cancel</button>` : nothing}
    </div>`;
  }
}

@customElement("toast-note")
export class ToastNote extends PageElement {
  constructor() {
    super(toast);
  }

  override render() {
    const { text, tone } = toast.value ?? { text: "", tone: "good" };
    return html`<div class="toast-place" role="status" aria-live="polite">
      ${text ? html`<div class="toast ${tone}">${text}</div>` : nothing}
    </div>`;
  }
}
