// On a phone the panel is a sheet of three heights, pulled by its handle.
import type { ReactiveController, ReactiveControllerHost } from "lit";

const SIZES = ["low", "middle", "high"] as const;
export type Size = (typeof SIZES)[number];

/** A pull of so many pixels changes the height. */
const PULL = 24;

export class Sheet implements ReactiveController {
  size: Size = "middle";
  #from: number | null = null;
  #pulled = false;

  constructor(private host: ReactiveControllerHost) {
    host.addController(this);
  }

  hostConnected(): void {}

  /** Open the sheet where it is closed, as for a panel that was asked for. */
  raise(): void {
    if (this.size === "low") this.#become("middle");
  }

  readonly toggle = (): void => {
    if (this.#pulled) this.#pulled = false;
    else this.#become(this.size === "low" ? "middle" : "low");
  };

  readonly grip = (event: PointerEvent): void => {
    const handle = event.currentTarget as HTMLElement;
    this.#from = event.clientY;
    handle.setPointerCapture(event.pointerId);
    const ended = new AbortController();
    for (const end of ["pointerup", "pointercancel"] as const)
      handle.addEventListener(
        end,
        (last) => {
          ended.abort();
          this.#release(last);
        },
        { signal: ended.signal },
      );
  };

  #release(event: PointerEvent): void {
    const moved = (this.#from ?? event.clientY) - event.clientY;
    this.#from = null;
    this.#pulled = Math.abs(moved) > PULL;
    if (!this.#pulled) return;
    const next = SIZES.indexOf(this.size) + (moved > 0 ? 1 : -1);
    this.#become(SIZES[Math.max(0, Math.min(SIZES.length - 1, next))] ?? "middle");
  }

  #become(size: Size): void {
    this.size = size;
    this.host.requestUpdate();
  }
}
