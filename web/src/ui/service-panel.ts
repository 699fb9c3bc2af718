// For administrators: how the service fares.
import { html, nothing, type TemplateResult } from "lit";
import { customElement } from "lit/decorators.js";
import { wordsFor } from "../api/problem";
import { ago } from "../model/times";
import {
  own,
  parked,
  rejects,
  resumeWebhook,
  type Sample,
  samples,
  status,
  trouble,
  watchHealth,
} from "../state/health";
import { say } from "../state/view";
import { PageElement } from "./element";
import "./live-plot";

@customElement("service-panel")
export class ServicePanel extends PageElement {
  #stop = () => {};

  constructor() {
    super(status, samples, rejects, parked, own, trouble);
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#stop = watchHealth();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#stop();
  }

  private plot(
    heading: string,
    unit: string,
    of: (sample: Sample) => number | null,
  ): TemplateResult {
    return html`<live-plot
      heading=${heading}
      unit=${unit}
      .times=${samples.value.map(({ at }) => at)}
      .values=${samples.value.map(of)}
    ></live-plot>`;
  }

  private number(
    name: string,
    value: number | string | undefined,
    alarming = false,
  ): TemplateResult {
    const text = typeof value === "number" ? value.toLocaleString("en") : (value ?? "–");
    return html`<div class="tile ${alarming ? "alarm" : ""}"><dt>${name}</dt><dd>${text}</dd></div>`;
  }

  private rejected(): TemplateResult {
    if (rejects.value.length === 0) return html`<p class="hint">Nothing was rejected.</p>`;
    return html`<ul class="plain">
      ${rejects.value.map(
        ({ id, reason, publisher, at }) =>
          html`<li>
            <strong>${id ?? "without an id"}</strong>
            <span class="error">${reason}</span>
            <span class="hint">${publisher ?? "unknown"} · ${ago(Date.parse(at))}</span>
          </li>`,
      )}
    </ul>`;
  }

  private parked(): TemplateResult {
    if (parked.value.length === 0) return html`<p class="hint">None is parked.</p>`;
    return html`<ul class="plain">
      ${parked.value.map(
        ({ account, number, host, last_error: error, changed }) =>
          html`<li>
            <strong>${host}</strong><span class="error">${error ?? ""}</span>
            <span class="hint">${account} · ${ago(Date.parse(changed))}</span>
            ${own.value.has(number) ? html`<button class="secondary" @click=${() => this.resume(number)}>Try again</button>` : nothing}
          </li>`,
      )}
    </ul>`;
  }

  private async resume(number: number): Promise<void> {
    try {
      await resumeWebhook(number);
      say("The webhook is tried again.");
    } catch (error) {
      say(wordsFor(error), "bad");
    }
  }

  override render() {
    const now = status.value;
    return html`<div class="panel-body" tabindex="0">
      <h2 class="lone">Service</h2>
      ${trouble.value ? html`<p class="error" role="alert">${trouble.value}</p>` : nothing}
      ${this.plot("Published", "events/s", ({ published }) => published)}
      ${this.plot("Matched", "matches/s", ({ matched }) => matched)}
      ${this.plot("Delay", "ms until told", ({ delay }) => delay)}
      ${this.plot("Batch", "ms", ({ batch }) => batch)}
      <dl class="tiles">
        ${this.number("Subscriptions", now?.subscriptions)}
        ${this.number("Snapshot", now ? `v${now.snapshot.version}` : undefined)}
        ${this.number("Waiting", now?.mailbox.waiting)}
        ${this.number("Streams", now?.streams)}
        ${this.number("Rejects", now?.dead_letters, (now?.dead_letters ?? 0) > 0)}
        ${this.number("Parked webhooks", now?.webhooks.parked, (now?.webhooks.parked ?? 0) > 0)}
      </dl>
      <h3>Rejects</h3>
      ${this.rejected()}
      <h3>Parked webhooks</h3>
      ${this.parked()}
    </div>`;
  }
}
