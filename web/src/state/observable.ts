// Values that tell when they change, and the way a Lit element listens to them.
import type { ReactiveController, ReactiveControllerHost } from "lit";

export interface Watchable {
  subscribe(listener: () => void): () => void;
}

export class Observable<T> implements Watchable {
  #listeners = new Set<() => void>();

  constructor(private current: T) {}

  get value(): T {
    return this.current;
  }

  set value(next: T) {
    if (Object.is(next, this.current)) return;
    this.current = next;
    this.touch();
  }

  /** Tell the listeners that something inside of the value changed. */
  touch(): void {
    for (const listener of [...this.#listeners]) listener();
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** Renders an element again when one of the observables changes. */
export class Watch implements ReactiveController {
  #ends: (() => void)[] = [];

  constructor(
    private host: ReactiveControllerHost,
    private watched: Watchable[],
  ) {
    host.addController(this);
  }

  hostConnected(): void {
    this.#ends = this.watched.map((one) => one.subscribe(() => this.host.requestUpdate()));
  }

  hostDisconnected(): void {
    for (const end of this.#ends) end();
  }
}
