// What happens between signing in and signing out.
import { wordsFor } from "../api/problem";
import { likelyAttribute } from "../model/colours";
import type { GeoEvent } from "../model/events";
import { HOUR } from "../model/times";
import { attributes, loadAttributes } from "./attributes";
import { dismissDraft } from "./draft";
import { arrivals, followEvents, leaveEvents, loadHistory } from "./live";
import { followNotifications, leaveNotifications, openNotices } from "./notifications";
import { publishPlace } from "./publishing";
import { type Account, account } from "./session";
import { forgetSubscriptions, loadSubscriptions, selected } from "./subscriptions";
import { forgetTimeline, span } from "./timeline";
import { colourBy, openEvent, type PanelName, panel, say } from "./view";

const FIRST_EVENTS = 5000;
const ATTRIBUTES_EVERY = 15_000;
const ATTRIBUTES_PAUSE = 1000;
let timer: ReturnType<typeof setInterval> | undefined;
/** Counts visits, so that what one began does not go on in the next. */
let visit = 0;
let learnt = 0;

selected.subscribe(() => {
  if (selected.value) void attempt(openNotices(selected.value));
});

async function attempt(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    say(wordsFor(error), "bad");
  }
}

/** Load and follow everything; events wait until the map is ready for them. */
export async function begin(who: Account, mapReady: Promise<unknown>): Promise<void> {
  const mine = ++visit;
  panel.value = firstPanel(who.rights);
  if (!who.rights.includes("subscribe")) return;
  await Promise.all([
    attempt(loadSubscriptions()),
    attempt(learnAttributes()),
    attempt(followNotifications(who.name)),
    mapReady,
  ]);
  if (mine !== visit) return;
  timer = setInterval(() => void learnAttributes().catch(() => {}), ATTRIBUTES_EVERY);
  followEvents();
  await attempt(loadHistory(span.value / HOUR, FIRST_EVENTS));
}

function firstPanel(rights: readonly string[]): PanelName {
  if (rights.includes("subscribe")) return "subscriptions";
  return rights.includes("publish") ? "publish" : "service";
}

arrivals.subscribe(() => {
  if (attributes.value.length > 0 || !arrivals.value.some(hasAttributes)) return;
  const now = Date.now();
  if (now - learnt < ATTRIBUTES_PAUSE) return;
  learnt = now;
  void learnAttributes().catch(() => {});
});

function hasAttributes({ properties }: GeoEvent): boolean {
  return Object.keys(properties).length > 0;
}

async function learnAttributes(): Promise<void> {
  await loadAttributes();
  if (colourBy.value === null && attributes.value.length > 0)
    colourBy.value = likelyAttribute(attributes.value);
}

/** Other clients of the account may have changed them meanwhile. */
document.addEventListener("visibilitychange", () => {
  if (!document.hidden && account.value?.rights.includes("subscribe"))
    void loadSubscriptions().catch(() => {});
});

export function end(): void {
  visit++;
  clearInterval(timer);
  leaveEvents();
  leaveNotifications();
  forgetSubscriptions();
  forgetTimeline();
  dismissDraft();
  openEvent.value = null;
  publishPlace.value = null;
  colourBy.value = null;
}
