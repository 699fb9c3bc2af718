// What the browser keeps between visits, where it lets the page keep anything.

export interface Kept {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

/** Storage that remembers nothing instead of failing: people may forbid it, and it may be full. */
function forgiving(storage: () => Storage): Kept {
  const attempt = <T>(work: () => T, otherwise: T): T => {
    try {
      return work();
    } catch {
      return otherwise;
    }
  };
  return {
    getItem: (key) => attempt(() => storage().getItem(key), null),
    setItem: (key, value) => attempt(() => storage().setItem(key, value), undefined),
    removeItem: (key) => attempt(() => storage().removeItem(key), undefined),
  };
}

/** Kept for good. */
export const lasting = forgiving(() => localStorage);
/** Kept as long as the tab. */
export const ofTab = forgiving(() => sessionStorage);
