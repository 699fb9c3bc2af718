// One subscription: what it says, what can be done with it, and its notifications.
import { html, nothing, type TemplateResult } from "lit";
import { customElement, state } from "lit/decorators.js";
import { repeat } from "lit/directives/repeat.js";
import { wordsFor } from "../api/problem";
import { describe } from "../model/geometry";
import { LABELS } from "../model/relations";
import { ago, clock } from "../model/times";
import { editDraft } from "../state/draft";
import { clearNotices, loadingNotices, type Notice, notices } from "../state/notifications";
import {
  pause,
  remove,
  resume,
  type Subscription,
  selected,
  subscriptionOf,
  subscriptions,
} from "../state/subscriptions";
import { ticks } from "../state/ticker";
import { openEvent, say } from "../state/view";
import { PageElement } from "./element";
import { written } from "./event-card";
import { icon } from "./icons";

const SHOWN_ATTRIBUTES = 3;

@customElement("subscription-detail")
export class SubscriptionDetail extends PageElement {
  @state() private confirming = false;

  constructor() {
    super(subscriptions, selected, notices, loadingNotices, openEvent, ticks);
  }

  private async attempt(work: Promise<unknown>, done: string): Promise<void> {
    try {
      await work;
      say(done);
    } catch (error) {
      say(wordsFor(error), "bad");
    }
  }

  private actions(one: Subscription): TemplateResult {
    if (this.confirming)
      return html`<div
        class="confirm"
        role="alertdialog"
        aria-label="Delete ${one.name}?"
        @keydown=${this.escape}
      >
        <span>Delete it for good?</span>
        <button class="quiet" @click=${() => this.ask(false)}>Keep</button>
        <button class="danger" @click=${() => this.attempt(remove(one.id), `“${one.name}” is deleted.`)}>Delete</button>
      </div>`;
    const paused = one.status === "paused";
    return html`<div class="toolbar">
      <button class="secondary" @click=${() => editDraft(one)}>${icon("pencil")}Edit</button>
      <button
        class="secondary"
        @click=${() => (paused ? this.attempt(resume(one.id), `“${one.name}” goes on.`) : this.attempt(pause(one.id), `“${one.name}” is paused.`))}
      >
        ${icon(paused ? "play" : "pause")}${paused ? "Resume" : "Pause"}
      </button>
      <button class="secondary delete" @click=${() => this.ask(true)}>${icon("trash")}Delete</button>
    </div>`;
  }

  private async ask(confirming: boolean): Promise<void> {
    this.confirming = confirming;
    await this.updateComplete;
    this.querySelector<HTMLElement>(confirming ? ".confirm .quiet" : ".delete")?.focus();
  }

  private escape(event: KeyboardEvent): void {
    if (event.key !== "Escape") return;
    event.preventDefault();
    void this.ask(false);
  }

  private notice(one: Notice): TemplateResult {
    const properties = Object.entries(one.event?.properties ?? {}).slice(0, SHOWN_ATTRIBUTES);
    const words = properties.map(([name, value]) => `${name} ${written(value)}`).join(" · ");
    const open = openEvent.value !== null && openEvent.value.key === one.event?.key;
    return html`<li>
      <button class="row notice ${open ? "open" : ""}" ?disabled=${!one.event} @click=${() => this.show(one)}>
        <span class="row-text">
          <strong>${one.publication}</strong>
          <span class="hint">${one.withdrawn ? "was withdrawn" : words || "no attributes"}</span>
        </span>
        ${one.missed ? html`<span class="badge missed">missed</span>` : nothing}
        <time class="hint" datetime=${new Date(one.time).toISOString()} title=${clock(one.time)}>${ago(one.time)}</time>
      </button>
    </li>`;
  }

  private show({ event }: Notice): void {
    if (!event) return;
    openEvent.value = event;
    const detail = event.geometry;
    this.dispatchEvent(new CustomEvent("show-geometry", { bubbles: true, detail }));
  }

  private back(): void {
    this.confirming = false;
    selected.value = null;
  }

  override render() {
    const one = subscriptionOf(selected.value ?? "");
    if (!one) return nothing;
    const found = notices.value;
    return html`<div class="panel-body">
      <header class="detail-head">
        <button class="quiet icon-only" aria-label="Back to the list" @click=${this.back}>${icon("back")}</button>
        <h2 tabindex="-1" title=${one.name}>${one.name}</h2>
        <span class="badge ${one.status}">${one.status}</span>
      </header>
      <dl class="facts">
        <div><dt>Area</dt><dd>${one.geometry ? describe(one.geometry) : "anywhere"}</dd></div>
        ${one.geometry ? html`<div><dt>Relation</dt><dd>event ${LABELS[one.relation]} area</dd></div>` : nothing}
        ${one.filter ? html`<div><dt>Conditions</dt><dd><code>${one.filter}</code></dd></div>` : nothing}
      </dl>
      ${this.actions(one)}
      <div class="section-head">
        <h3>Notifications</h3>
        ${found.length ? html`<button class="quiet small" @click=${() => this.attempt(clearNotices(one.id), "The mailbox is cleared.")}>Clear</button>` : nothing}
      </div>
      <ul class="rows" aria-label="Notifications" aria-live="polite" aria-relevant="additions">
        ${repeat(
          found,
          ({ cursor }) => cursor,
          (notice) => this.notice(notice),
        )}
      </ul>
      ${found.length === 0 ? html`<p class="hint centred">${this.emptyWords(one)}</p>` : nothing}
    </div>`;
  }

  private emptyWords(one: Subscription): string {
    if (loadingNotices.value) return "Loading…";
    if (one.status === "paused") return "It is paused: events pass it by.";
    if (one.status === "pending") return "It becomes active in a moment.";
    return "Nothing yet. A matching event appears here as it happens.";
  }
}
