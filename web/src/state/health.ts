// The numbers of the service, asked for while an administrator looks at them.
import { answer, type Schemas, service } from "../api/client";
import { wordsFor } from "../api/problem";
import { Observable } from "./observable";
import { may } from "./session";

export type Status = Awaited<ReturnType<typeof askStatus>>;

export interface Sample {
  /** Seconds since 1970, as plots want it. */
  at: number;
  /** Publications a second. */
  published: number;
  /** Matches a second. */
  matched: number;
  /** Milliseconds from publication to mailbox, half of them within. */
  delay: number | null;
  /** Milliseconds of the last batch. */
  batch: number | null;
}

export const status = new Observable<Status | null>(null);
export const samples = new Observable<readonly Sample[]>([]);
export const rejects = new Observable<Schemas["DeadLetters"]["dead_letters"]>([]);
/** Everybody's that are parked. */
export const parked = new Observable<Schemas["ParkedWebhooks"]["webhooks"]>([]);
/** The numbers of one's own webhooks, which one may try again. */
export const own = new Observable<ReadonlySet<number>>(new Set());
export const trouble = new Observable("");

const PERIOD = 2000;
const KEPT = 150;
let timer: ReturnType<typeof setTimeout> | undefined;
let last: { status: Status; at: number } | null = null;

export function watchHealth(): () => void {
  let watching = true;
  const again = async () => {
    if (!document.hidden) await ask();
    if (watching) timer = setTimeout(again, PERIOD);
  };
  void again();
  return () => {
    watching = false;
    clearTimeout(timer);
  };
}

async function ask(): Promise<void> {
  try {
    status.value = await askStatus();
    sample(status.value, Date.now() / 1000);
    const query = { limit: 20, newest: true };
    rejects.value = (
      await answer(service.GET("/v1/dead-letters", { params: { query } }))
    ).dead_letters;
    await askWebhooks();
    trouble.value = "";
  } catch (error) {
    trouble.value = wordsFor(error);
  }
}

function askStatus() {
  return answer(service.GET("/v1/status"));
}

function sample(told: Status, at: number): void {
  if (last) {
    const seconds = Math.max(0.1, at - last.at);
    const next: Sample = {
      at,
      published: Math.max(0, told.publications - last.status.publications) / seconds,
      matched: Math.max(0, told.matches - last.status.matches) / seconds,
      delay: thousandfold(told.delay.p50),
      batch: thousandfold(told.batch_seconds),
    };
    samples.value = [...samples.value, next].slice(-KEPT);
  }
  last = { status: told, at };
}

function thousandfold(seconds: number | null): number | null {
  return seconds === null ? null : seconds * 1000;
}

export async function resumeWebhook(number: number): Promise<void> {
  await answer(service.POST("/v1/webhooks/{number}/resume", { params: { path: { number } } }));
  await askWebhooks();
}

async function askWebhooks(): Promise<void> {
  parked.value = (await answer(service.GET("/v1/webhooks/parked"))).webhooks;
  if (!may("subscribe") || parked.value.length === 0) return;
  const { webhooks } = await answer(service.GET("/v1/webhooks"));
  own.value = new Set(webhooks.map(({ number }) => number));
}
