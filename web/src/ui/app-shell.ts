// The page around the map: panel, controls, time, legend; on a phone the panel is a sheet.

import { html, nothing, type TemplateResult } from "lit";
import { customElement, property } from "lit/decorators.js";
import type { Map as MapLibre } from "maplibre-gl";
import { tool } from "../map/drawing";
import { dismissDraft, draft } from "../state/draft";
import { unread } from "../state/notifications";
import { account, may, signOut } from "../state/session";
import { selected } from "../state/subscriptions";
import { isPhone, openEvent, type PanelName, panel } from "../state/view";
import { PageElement } from "./element";
import "./event-card";
import "./event-legend";
import { icon } from "./icons";
import "./map-controls";
import "./map-notes";
import "./publish-panel";
import { Sheet } from "./sheet";
import "./sign-in";
import "./subscription-detail";
import "./subscription-editor";
import "./subscription-list";
import "./time-bar";

interface Tab {
  name: PanelName;
  label: string;
  right: "subscribe" | "publish" | "admin";
}

const TABS: Tab[] = [
  { name: "subscriptions", label: "Subscriptions", right: "subscribe" },
  { name: "publish", label: "Publish", right: "publish" },
  { name: "service", label: "Service", right: "admin" },
];

@customElement("app-shell")
export class AppShell extends PageElement {
  @property({ attribute: false }) map: MapLibre | null = null;
  @property() reason = "";
  #sheet = new Sheet(this);
  /** What was shown, and which subscription was chosen. */
  #view: readonly [string, string] = ["", ""];

  constructor() {
    super(account, panel, selected, unread, tool, openEvent);
  }

  /** Drawing needs the map; the plots come when somebody looks at them. */
  override willUpdate(): void {
    this.classList.toggle("drawing", tool.value !== null);
    if (panel.value === "service") void import("./service-panel");
  }

  override updated(): void {
    const [before, chosen] = this.#view;
    const view = `${account.value?.name} ${panel.value} ${selected.value}`;
    this.#view = [view, selected.value ?? ""];
    if (before !== view) void this.#keepFocus(chosen);
  }

  /** Where what had the focus is gone with its panel, the next one takes it. */
  async #keepFocus(chosen: string): Promise<void> {
    const shown = this.querySelector<PageElement>(".panel-content > *");
    await shown?.updateComplete;
    if (document.activeElement !== document.body) return;
    const row = shown?.querySelector<HTMLElement>(`[data-id="${CSS.escape(chosen)}"]`);
    (row ?? shown?.querySelector<HTMLElement>("h2[tabindex], .primary"))?.focus();
  }

  private open(name: PanelName): void {
    const behind = panel.value === "editor" ? "subscriptions" : panel.value;
    if (isPhone() && this.closeEvent() && behind === name) return;
    selected.value = null;
    // What was begun is not lost by looking elsewhere; who asks for the list from within gets it.
    if (panel.value === "editor" && name === "subscriptions") dismissDraft();
    else panel.value = name === "subscriptions" && draft.value ? "editor" : name;
    this.#sheet.raise();
  }

  private toggle(): void {
    if (!this.closeEvent()) this.#sheet.toggle();
  }

  /** Close what is open on the map, and open the panel that it took the room of. */
  private closeEvent(): boolean {
    if (!openEvent.value) return false;
    openEvent.value = null;
    this.#sheet.raise();
    return true;
  }

  private grip(event: PointerEvent): void {
    if (!openEvent.value) this.#sheet.grip(event);
  }

  private tab({ name, label }: Tab): TemplateResult {
    const shown = panel.value === "editor" ? "subscriptions" : panel.value;
    const total = Object.values(unread.value).reduce((sum, one) => sum + one, 0);
    const badge = name === "subscriptions" && total > 0;
    return html`<button
      class="tab"
      aria-current=${shown === name ? "page" : "false"}
      @click=${() => this.open(name)}
    >
      <span>${label}</span>
      ${badge ? html`<span class="count" aria-label="${total} unread">${total > 999 ? "999+" : total}</span>` : nothing}
    </button>`;
  }

  private content(): TemplateResult {
    switch (panel.value) {
      case "editor":
        return html`<subscription-editor></subscription-editor>`;
      case "publish":
        return html`<publish-panel></publish-panel>`;
      case "service":
        return html`<service-panel></service-panel>`;
      case "subscriptions":
        return selected.value
          ? html`<subscription-detail></subscription-detail>`
          : html`<subscription-list></subscription-list>`;
    }
  }

  private panel(name: string): TemplateResult {
    // On a phone, what is drawn or opened on the map needs the room.
    const size = tool.value || openEvent.value ? "low" : this.#sheet.size;
    return html`<main class="panel card ${size}" aria-label="Geocast">
      <button
        class="handle"
        aria-label=${size === "low" ? "Open the panel" : "Close the panel"}
        @pointerdown=${this.grip}
        @click=${this.toggle}
      ></button>
      <header class="brand">
        <span class="logo" aria-hidden="true"></span>
        <h1>Geocast</h1>
        <span class="who" title="Signed in as ${name}">${name}</span>
        <button class="quiet icon-only" aria-label="Sign out" title="Sign out" @click=${signOut}>${icon("out")}</button>
      </header>
      <nav class="tabs" aria-label="Panels">${TABS.filter(({ right }) => may(right)).map((tab) => this.tab(tab))}</nav>
      <div class="panel-content">${this.content()}</div>
    </main>`;
  }

  override render() {
    const who = account.value;
    return html`<map-controls .map=${this.map}></map-controls>
      <draw-hint></draw-hint>
      ${
        who
          ? html`${this.panel(who.name)}
              <event-card></event-card>
              <event-legend></event-legend>
              <time-bar></time-bar>`
          : html`<main><sign-in .reason=${this.reason}></sign-in></main>`
      }
      <toast-note></toast-note>`;
  }
}
