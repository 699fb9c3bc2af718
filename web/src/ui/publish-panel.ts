// Publishing by hand: a place, attributes, send.
import { html, nothing } from "lit";
import { customElement, state } from "lit/decorators.js";
import { answer, GEOJSON, type Schemas, service } from "../api/client";
import { wordsFor } from "../api/problem";
import { type Row, readRows } from "../model/attribute-values";
import { attributes, loadAttributes } from "../state/attributes";
import { publishPlace } from "../state/publishing";
import { may } from "../state/session";
import { say } from "../state/view";
import type { Area } from "./area-picker";
import "./area-picker";
import { attributeNames, nameField, valueField } from "./attribute-fields";
import { PageElement } from "./element";
import { icon } from "./icons";

@customElement("publish-panel")
export class PublishPanel extends PageElement {
  @state() private rows: Row[] = [{ name: "", value: "" }];
  @state() private error = "";
  @state() private busy = false;

  constructor() {
    super(attributes, publishPlace);
  }

  private set(at: number, part: Partial<Row>): void {
    this.rows = this.rows.map((row, place) => (place === at ? { ...row, ...part } : row));
    const last = this.rows.at(-1);
    if (last?.name || last?.value) this.rows = [...this.rows, { name: "", value: "" }];
  }

  private async submit(event: Event): Promise<void> {
    event.preventDefault();
    if (!publishPlace.value) {
      this.error = "Choose where it happens first.";
      return;
    }
    this.busy = true;
    this.error = "";
    try {
      const properties = readRows(this.rows) as Schemas["Publication"]["properties"];
      const geometry = publishPlace.value;
      const body: Schemas["Publication"] = { type: "Feature", geometry, properties };
      const told = await answer(service.POST("/v1/publications", { body, headers: GEOJSON }));
      say(`Published as ${told.accepted[0]?.id ?? "an event"}.`);
      publishPlace.value = null;
      if (may("subscribe")) await loadAttributes().catch(() => {});
    } catch (error) {
      this.error = wordsFor(error);
    } finally {
      this.busy = false;
    }
  }

  private row({ name, value }: Row, at: number) {
    const id = `published-${at}`;
    return html`<li class="pair">
      ${nameField({ id: "published", value: name, change: (text) => this.set(at, { name: text }) })}
      ${valueField(name, { id, value, change: (text) => this.set(at, { value: text }) })}
    </li>`;
  }

  override render() {
    return html`<form class="editor" @submit=${this.submit}>
      <div class="panel-body">
        <h2 class="lone">Publish an event</h2>
        <p class="hint">It goes to everybody whom it concerns: a good way to try a subscription out.</p>
        <fieldset>
          <legend>Place</legend>
          <area-picker
            needed
            .geometry=${publishPlace.value}
            @area=${(event: CustomEvent<Area>) => {
              publishPlace.value = event.detail.geometry;
            }}
          ></area-picker>
        </fieldset>
        <fieldset>
          <legend>Attributes</legend>
          ${attributeNames("published")}
          <ul class="conditions">${this.rows.map((row, at) => this.row(row, at))}</ul>
        </fieldset>
      </div>
      <footer class="panel-foot">
        <p class="error" role="alert">${this.error || nothing}</p>
        <button class="primary wide" ?disabled=${this.busy}>${icon("send")}Publish</button>
      </footer>
    </form>`;
  }
}
