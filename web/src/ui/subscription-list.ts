// The list of subscriptions beside the map, with search.
import { html, type TemplateResult } from "lit";
import { customElement, state } from "lit/decorators.js";
import { repeat } from "lit/directives/repeat.js";
import { wordsFor } from "../api/problem";
import { LABELS } from "../model/relations";
import { count } from "../model/times";
import { permission, toggleDesktop, wantsDesktop } from "../state/desktop";
import { newDraft } from "../state/draft";
import { missedCount, unread } from "../state/notifications";
import {
  loading,
  loadSubscriptions,
  type Subscription,
  selected,
  subscriptions,
} from "../state/subscriptions";
import { say } from "../state/view";
import { fieldValue, PageElement } from "./element";
import { icon } from "./icons";

const MOST_ROWS = 300;

function matches(subscription: Subscription, wanted: string): boolean {
  const { name, id, filter, relation } = subscription;
  return [name, id, filter, relation].some((text) => text.toLowerCase().includes(wanted));
}

@customElement("subscription-list")
export class SubscriptionList extends PageElement {
  @state() private wanted = "";

  constructor() {
    super(subscriptions, loading, unread, selected, missedCount, permission, wantsDesktop);
  }

  private row(one: Subscription): TemplateResult {
    const waiting = unread.value[one.id] ?? 0;
    const what = one.geometry ? LABELS[one.relation] : "anywhere";
    return html`<li>
      <button
        class="row"
        data-id=${one.id}
        @click=${() => {
          selected.value = one.id;
        }}
      >
        <span class="status ${one.status}" aria-hidden="true"></span>
        <span class="row-text">
          <strong>${one.name}</strong>
          <span class="hint">${what}${one.filter ? ` · ${one.filter}` : ""}</span>
        </span>
        ${one.status === "active" ? "" : html`<span class="badge ${one.status}">${one.status}</span>`}
        ${waiting ? html`<span class="count" aria-label="${waiting} unread">${waiting > 999 ? "999+" : waiting}</span>` : ""}
      </button>
    </li>`;
  }

  private empty(): TemplateResult {
    if (loading.value === "begun") return html`<p class="hint centred">Loading…</p>`;
    if (loading.value === "failed")
      return html`<p class="hint centred">
        Your subscriptions could not be loaded.
        <button class="quiet small" @click=${this.again}>Try again</button>
      </p>`;
    return html`<div class="empty">
      ${icon("layers")}
      <h3>No subscriptions yet</h3>
      <p>Draw an area on the map, say which events there concern you, and be told when they happen.</p>
    </div>`;
  }

  private async again(): Promise<void> {
    await loadSubscriptions().catch((error) => say(wordsFor(error), "bad"));
  }

  private bell(): TemplateResult | string {
    if (permission.value === "unsupported") return "";
    const on = wantsDesktop.value && permission.value === "granted";
    const denied = permission.value === "denied";
    const words = denied ? "Your browser blocks desktop notifications" : "Desktop notifications";
    return html`<button
      class="quiet icon-only ${on ? "on" : ""}"
      aria-pressed=${on ? "true" : "false"}
      aria-label="Desktop notifications"
      title=${words}
      ?disabled=${denied}
      @click=${toggleDesktop}
    >
      ${icon("bell")}
    </button>`;
  }

  override render() {
    const all = subscriptions.value;
    const found = all.filter((one) => matches(one, this.wanted.trim().toLowerCase()));
    return html`<div class="panel-body">
      <div class="toolbar">
        <button class="primary grow" @click=${() => newDraft()}>${icon("plus")}New subscription</button>
        ${this.bell()}
      </div>
      ${missedCount.value ? html`<p class="note" role="status">${count(missedCount.value, "notification")} came while you were away.</p>` : ""}
      ${
        all.length === 0
          ? this.empty()
          : html`<div class="search">
                ${icon("search")}
                <label class="hidden" for="search">Search subscriptions</label>
                <input
                  id="search"
                  type="search"
                  placeholder="Search ${count(all.length, "subscription")}"
                  .value=${this.wanted}
                  @input=${(event: Event) => {
                    this.wanted = fieldValue(event);
                  }}
                />
              </div>
              ${found.length === 0 ? html`<p class="hint centred">Nothing is called “${this.wanted}”.</p>` : ""}
              <ul class="rows">
                ${repeat(
                  found.slice(0, MOST_ROWS),
                  ({ id }) => id,
                  (one) => this.row(one),
                )}
              </ul>
              ${found.length > MOST_ROWS ? html`<p class="hint centred">${count(found.length - MOST_ROWS, "more", "more")}: search for them.</p>` : ""}`
      }
    </div>`;
  }
}
