// What the person looks at: panel, theme, projection, colours, the event that is open.
import type { GeoEvent } from "../model/events";
import { Observable } from "./observable";
import { lasting } from "./storage";

export type PanelName = "subscriptions" | "editor" | "publish" | "service";

export const panel = new Observable<PanelName>("subscriptions");
export const openEvent = new Observable<GeoEvent | null>(null);
export const globe = new Observable(false);
export const colourBy = new Observable<string | null>(null);

export type Theme = "light" | "dark";

const THEME_KEY = "geocast-theme";
const prefersDark = matchMedia("(prefers-color-scheme: dark)");

function wanted(): Theme {
  const chosen = lasting.getItem(THEME_KEY);
  if (chosen === "light" || chosen === "dark") return chosen;
  return prefersDark.matches ? "dark" : "light";
}

export const theme = new Observable<Theme>(wanted());

export function chooseTheme(next: Theme): void {
  lasting.setItem(THEME_KEY, next);
  theme.value = next;
}

export function followTheme(): void {
  const apply = () => {
    document.documentElement.dataset.theme = theme.value;
  };
  prefersDark.addEventListener("change", () => {
    theme.value = wanted();
  });
  theme.subscribe(apply);
  apply();
}

/** Up to this width the panel is a sheet; the style sheets say the same. */
const PHONE = 700;

export function isPhone(): boolean {
  return innerWidth <= PHONE;
}

export function reducedMotion(): boolean {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** Short messages about what was just done, told to screen readers, too. */
export interface Toast {
  text: string;
  tone: "good" | "bad";
}

export const toast = new Observable<Toast | null>(null);
let timer: ReturnType<typeof setTimeout> | undefined;

export function say(text: string, tone: Toast["tone"] = "good"): void {
  clearTimeout(timer);
  toast.value = { text, tone };
  timer = setTimeout(() => {
    toast.value = null;
  }, 5000);
}
