// A small live plot, by uPlot.
import { html } from "lit";
import { customElement, property } from "lit/decorators.js";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { PageElement } from "./element";

const HEIGHT = 72;
/** The axis ends this much above the highest value. */
const ROOM = 1.15;

function short(value: number): string {
  return value.toLocaleString("en", { maximumSignificantDigits: 3 });
}

function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

@customElement("live-plot")
export class LivePlot extends PageElement {
  @property() heading = "";
  @property() unit = "";
  @property({ attribute: false }) times: number[] = [];
  @property({ attribute: false }) values: (number | null)[] = [];
  #plot: uPlot | null = null;

  override firstUpdated(): void {
    const place = this.querySelector<HTMLElement>(".plot");
    if (!place) return;
    const axis = { stroke: () => colour("--soft"), grid: { show: false }, font: "11px system-ui" };
    this.#plot = new uPlot(
      {
        width: place.clientWidth || 300,
        height: HEIGHT,
        legend: { show: false },
        cursor: { show: false },
        scales: { y: { range: (_plot, _low, high) => [0, Math.max(1, high * ROOM)] } },
        axes: [
          { ...axis, show: false },
          {
            ...axis,
            size: 44,
            ticks: { show: false },
            splits: (_plot, _axis, low, high) => (high > 1 ? [low, high / ROOM] : [low]),
            values: (_plot, splits) => splits.map(short),
          },
        ],
        series: [
          {},
          {
            stroke: () => colour("--accent"),
            fill: () => colour("--accent-wash"),
            width: 1.6,
            points: { show: false },
            spanGaps: true,
          },
        ],
      },
      [this.times, this.values],
      place,
    );
  }

  override updated(): void {
    this.#plot?.setData([this.times, this.values]);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#plot?.destroy();
  }

  private get latest(): string {
    const found = this.values.findLast((value) => value !== null);
    if (found === undefined || found === null) return "–";
    return short(found);
  }

  override render() {
    return html`<figure class="live-plot">
      <figcaption>${this.heading}<strong>${this.latest} <small>${this.unit}</small></strong></figcaption>
      <div class="plot" role="img" aria-label="${this.heading}: ${this.latest} ${this.unit}"></div>
    </figure>`;
  }
}
