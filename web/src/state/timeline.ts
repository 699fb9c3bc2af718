// Which time the map shows: now, or a moment of the last hours that is replayed.
import { wordsFor } from "../api/problem";
import { HOUR, MINUTE } from "../model/times";
import { events, loadHistory } from "./live";
import { Observable } from "./observable";
import { forgetReplay, need, type Span } from "./replay";
import { say } from "./view";

export const SPANS = [
  { label: "15 min", value: 15 * MINUTE },
  { label: "1 h", value: HOUR },
  { label: "6 h", value: 6 * HOUR },
  { label: "24 h", value: 24 * HOUR },
] as const;

/** How far back the map looks. */
export const span = new Observable<number>(HOUR);
/** The moment shown; null is now. */
export const moment = new Observable<number | null>(null);
export const playing = new Observable(false);

const STEP = 100;
/** A replay of the whole span takes this long. */
const DURATION = 30_000;
/** An event stays for this part of the span while the past is replayed. */
const TRAIL = 1 / 6;
let timer: ReturnType<typeof setInterval> | undefined;
let loadedSpan = 0;

/** The time span of the events to draw, and how long they take to fade. */
export function window(now = Date.now()): Span & { fading: number } {
  const at = moment.value;
  if (at === null)
    return { from: now - span.value, to: Number.POSITIVE_INFINITY, fading: span.value };
  const trail = span.value * TRAIL;
  return { from: at - trail, to: at, fading: trail };
}

export function goLive(): void {
  halt();
  moment.value = null;
}

export function goTo(time: number): void {
  const now = Date.now();
  moment.value = Math.max(now - span.value, Math.min(now, time));
  void look();
}

export function chooseSpan(value: number): void {
  span.value = value;
  if (moment.value !== null) goTo(moment.value);
  else void fill();
}

export function play(): void {
  const now = Date.now();
  if (moment.value === null || now - moment.value < 1000) goTo(now - span.value);
  playing.value = true;
  clearInterval(timer);
  timer = setInterval(advance, STEP);
}

export function halt(): void {
  clearInterval(timer);
  playing.value = false;
}

function advance(): void {
  const next = (moment.value ?? Date.now()) + (span.value * STEP) / DURATION;
  if (next >= Date.now()) goLive();
  else {
    moment.value = next;
    void look();
  }
}

/** Get what the moment shows: all of the span where there is room for it, else the moment's own. */
async function look(): Promise<void> {
  await fill();
  if (moment.value === null) return;
  try {
    await need(window());
  } catch (error) {
    halt();
    say(wordsFor(error), "bad");
  }
}

/** Load what the log has of the span, once for each span that is wider than those before. */
async function fill(): Promise<void> {
  if (span.value <= loadedSpan) return;
  loadedSpan = span.value;
  try {
    await loadHistory(span.value / HOUR, events.capacity);
  } catch (error) {
    loadedSpan = 0;
    say(wordsFor(error), "bad");
  }
}

export function forgetTimeline(): void {
  goLive();
  forgetReplay();
  loadedSpan = 0;
}
