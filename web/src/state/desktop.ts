// Notifications of the operating system, where the person allowed them.
import { Observable } from "./observable";
import { lasting } from "./storage";

type Permission = "default" | "denied" | "granted" | "unsupported";

const KEY = "geocast-desktop";
const PAUSE = 3000;
let last = 0;

function current(): Permission {
  return "Notification" in window ? Notification.permission : "unsupported";
}

export const permission = new Observable<Permission>(current());
export const wantsDesktop = new Observable(lasting.getItem(KEY) === "on");

export async function toggleDesktop(): Promise<void> {
  if (permission.value === "unsupported") return;
  const wanted = !(wantsDesktop.value && permission.value === "granted");
  if (wanted) permission.value = await Notification.requestPermission();
  wantsDesktop.value = wanted && permission.value === "granted";
  lasting.setItem(KEY, wantsDesktop.value ? "on" : "off");
}

function isLookedAt(): boolean {
  return !document.hidden && document.hasFocus();
}

/** Tell of a match, unless the page is being looked at or told of one a moment ago. */
export function tellOnDesktop(name: string, publication: string): void {
  if (!wantsDesktop.value || permission.value !== "granted" || isLookedAt()) return;
  if (Date.now() - last < PAUSE) return;
  last = Date.now();
  try {
    new Notification(name, { body: `New event: ${publication}`, tag: `geocast-${name}` });
  } catch {
    // Some browsers have the word, but let only service workers use it.
    permission.value = "unsupported";
  }
}
