// What of the mailbox this browser has seen and read; kept between visits, for each account.

import type { Kept } from "./storage";

interface Saved {
  seen: number;
  unread: Record<string, number>;
}

/** What was kept, or null where that is nothing that this page could have written. */
function read(text: string | null): Saved | null {
  try {
    const found = JSON.parse(text ?? "null") as Partial<Saved> | null;
    if (!Number.isFinite(found?.seen) || typeof found?.unread !== "object") return null;
    const counts = Object.entries(found.unread ?? {}).filter(([, count]) => count > 0);
    return { seen: Number(found.seen), unread: Object.fromEntries(counts) };
  } catch {
    return null;
  }
}

export class ReadState {
  readonly firstVisit: boolean;
  /** The newest cursor of the visit before. */
  readonly seenAtStart: number;
  #saved: Saved;
  #key: string;

  constructor(
    account: string,
    private storage: Pick<Kept, "getItem" | "setItem">,
  ) {
    this.#key = `geocast-read:${account}`;
    const saved = read(storage.getItem(this.#key));
    this.firstVisit = saved === null;
    this.#saved = saved ?? { seen: 0, unread: {} };
    this.seenAtStart = this.#saved.seen;
  }

  get seen(): number {
    return this.#saved.seen;
  }

  get unread(): Record<string, number> {
    return { ...this.#saved.unread };
  }

  see(cursor: number): void {
    this.#saved.seen = Math.max(this.#saved.seen, cursor);
  }

  add(subscription: string, count: number): void {
    const known = this.#saved.unread[subscription] ?? 0;
    this.#saved.unread[subscription] = known + count;
  }

  read(subscription: string): void {
    delete this.#saved.unread[subscription];
  }

  /** No more can be unread than wait; others may have acknowledged them elsewhere. */
  limit(waiting: Record<string, number>): void {
    for (const [subscription, count] of Object.entries(this.#saved.unread)) {
      const most = waiting[subscription] ?? 0;
      if (most === 0) delete this.#saved.unread[subscription];
      else this.#saved.unread[subscription] = Math.min(count, most);
    }
  }

  /** Keep it for the next visit; one call serves any number of changes. */
  save(): void {
    this.storage.setItem(this.#key, JSON.stringify(this.#saved));
  }
}
