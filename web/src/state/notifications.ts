// Notifications: live, counted, and marked where they came while nobody looked.
import { answer, authorization, ROOT, type Schemas, service } from "../api/client";
import { follow } from "../api/sse";
import { type GeoEvent, readEvent } from "../model/events";
import { tellOnDesktop } from "./desktop";
import { Observable } from "./observable";
import { ReadState } from "./read-state";
import { type Kept, lasting } from "./storage";
import { selected, subscriptionOf } from "./subscriptions";
import { say } from "./view";

type CloudEvent = Schemas["CloudEvent"];

export interface Notice {
  cursor: number;
  subscription: string;
  publication: string;
  time: number;
  withdrawn: boolean;
  missed: boolean;
  event: GeoEvent | null;
}

/** Unread counts by subscription. */
export const unread = new Observable<Readonly<Record<string, number>>>({});
/** How many came between the last visit and this one. */
export const missedCount = new Observable(0);
/** The notifications of the selected subscription, newest first. */
export const notices = new Observable<readonly Notice[]>([]);
export const loadingNotices = new Observable(false);

/** How many of a subscription are shown; the service gives no more at once. */
const SHOWN = 500;
/** How long to wait before asking again, where the service could not be reached. */
const AGAIN = 5000;

let state: ReadState | null = null;
let startedAt = 0;
let stop = () => {};
let again: ReturnType<typeof setTimeout> | undefined;

export async function followNotifications(account: string, storage: Kept = lasting): Promise<void> {
  const mine = new ReadState(account, storage);
  state = mine;
  startedAt = Date.now();
  try {
    const { subscriptions: waiting } = await answer(service.GET("/v1/notifications/counts"));
    if (state === mine) begin(mine, waiting);
  } catch (error) {
    if (state === mine) again = setTimeout(() => void retry(account, storage), AGAIN);
    throw error;
  }
}

function retry(account: string, storage: Kept): Promise<void> {
  return followNotifications(account, storage).catch(() => {});
}

function begin(mine: ReadState, waiting: Record<string, number>): void {
  mine.limit(waiting);
  mine.save();
  unread.value = mine.unread;
  stop = follow({
    url: `${ROOT}/v1/stream?after=${mine.seen}`,
    headers: authorization,
    onEvents: (events) => take(events.map(({ data }) => JSON.parse(data) as CloudEvent)),
    onState: () => {},
    onRefused: (status) => {
      if (status !== 401)
        say(`Notifications do not arrive: the service refuses (${status}).`, "bad");
    },
  });
}

export function leaveNotifications(): void {
  clearTimeout(again);
  stop();
  state = null;
  unread.value = {};
  notices.value = [];
  missedCount.value = 0;
}

function take(told: CloudEvent[]): void {
  if (!state) return;
  const before = state.seen;
  const found = told.map(readNotice).filter((one) => one.cursor > before);
  for (const notice of found) {
    const open = notice.subscription === selected.value && !document.hidden;
    if (!open) state.add(notice.subscription, 1);
    if (notice.missed) missedCount.value++;
    else tellOnDesktop(nameOf(notice.subscription), notice.publication);
    state.see(notice.cursor);
  }
  state.save();
  unread.value = state.unread;
  display(found.filter(({ subscription }) => subscription === selected.value));
}

/** Show more notices, newest first; what is shown already stands there once. */
function display(found: readonly Notice[]): void {
  if (found.length === 0) return;
  const known = new Map([...notices.value, ...found].map((one) => [one.cursor, one]));
  const sorted = [...known.values()].sort((a, b) => b.cursor - a.cursor);
  notices.value = sorted.slice(0, SHOWN);
}

/** What came for the open subscription while the page was hidden is read when it is not. */
document.addEventListener("visibilitychange", () => {
  if (!document.hidden && selected.value) markRead(selected.value);
});

function markRead(subscription: string): void {
  if (!state) return;
  state.read(subscription);
  state.save();
  unread.value = state.unread;
  if (Object.keys(unread.value).length === 0) missedCount.value = 0;
}

function nameOf(subscription: string): string {
  return subscriptionOf(subscription)?.name ?? subscription;
}

interface MatchData {
  subscription?: string;
  publication?: string;
  notified?: string;
  feature?: Parameters<typeof readEvent>[0];
}

function readNotice(told: CloudEvent): Notice {
  const data = told.data as MatchData;
  const time = Date.parse(told.time);
  const publisher = told.source.replace(/^\/accounts\//, "");
  return {
    cursor: told.geocastcursor,
    subscription: data.subscription ?? "",
    publication: data.publication ?? told.subject,
    time,
    withdrawn: told.type === "geocast.withdrawal.v1",
    missed: wasMissed(told.geocastcursor, Date.parse(data.notified ?? "")),
    event: data.feature ? readEvent(data.feature, { publisher, time: told.time }) : null,
  };
}

/** Whether it came between the last visit and this one. */
function wasMissed(cursor: number, notified: number): boolean {
  return state !== null && !state.firstVisit && cursor > state.seenAtStart && notified < startedAt;
}

/** Load the notifications of a subscription; they count as read from now on. */
export async function openNotices(subscription: string): Promise<void> {
  notices.value = [];
  loadingNotices.value = true;
  try {
    const query = { subscription, limit: SHOWN, newest: true };
    const told = await answer(service.GET("/v1/notifications", { params: { query } }));
    if (selected.value === subscription) display(told.notifications.map(readNotice));
  } finally {
    if (selected.value === subscription) loadingNotices.value = false;
  }
  markRead(subscription);
}

/** Take the notifications of a subscription out of the mailbox, for good. */
export async function clearNotices(subscription: string): Promise<void> {
  const through = notices.value[0]?.cursor;
  if (through === undefined) return;
  await answer(service.POST("/v1/notifications/ack", { body: { through, subscription } }));
  notices.value = notices.value.filter(({ cursor }) => cursor > through);
}
