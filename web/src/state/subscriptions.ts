// The subscriptions of the account, as the service has them.
import { answer, GEOJSON, type Schemas, service } from "../api/client";
import { Problem } from "../api/problem";
import { isPlain, type PlainGeometry } from "../model/geometry";
import { RELATIONS, type Relation } from "../model/relations";
import { Observable } from "./observable";

export type Status = "pending" | "active" | "paused";

export interface Subscription {
  id: string;
  name: string;
  geometry: PlainGeometry | null;
  relation: Relation;
  filter: string;
  status: Status;
  /** What else its owner keeps in it; a change must not lose it. */
  rest: Record<string, unknown>;
}

export interface Wish {
  name: string;
  geometry: PlainGeometry | null;
  relation: Relation;
  filter: string;
  rest?: Record<string, unknown>;
}

export const subscriptions = new Observable<readonly Subscription[]>([]);
export const selected = new Observable<string | null>(null);
export const loading = new Observable<"begun" | "done" | "failed">("begun");

const POLL = 700;
let polling: ReturnType<typeof setTimeout> | undefined;
/** Counts visits: an answer to one does not reach the next. */
let left = 0;

interface Told {
  id?: unknown;
  geometry?: unknown;
  properties?: Record<string, unknown> | null;
}

export function readSubscription(feature: Told): Subscription {
  const { predicate, filter, geocast, name, ...rest } = feature.properties ?? {};
  const { status } = (geocast ?? {}) as { status?: Status };
  const id = String(feature.id ?? "");
  return {
    id,
    name: typeof name === "string" && name ? name : id,
    geometry: isPlain(feature.geometry) ? feature.geometry : null,
    relation: RELATIONS.find((one) => one === predicate) ?? "intersects",
    filter: typeof filter === "string" ? filter : filter ? JSON.stringify(filter) : "",
    status: status ?? "active",
    rest,
  };
}

/** The feature that asks for a wish. */
export function writeSubscription(wish: Wish, id?: string): Schemas["SubscriptionRequest"] {
  const properties: Record<string, unknown> = { ...wish.rest, name: wish.name };
  if (wish.geometry) properties.predicate = wish.relation;
  if (wish.filter) properties.filter = wish.filter;
  const feature = { type: "Feature", geometry: wish.geometry, properties };
  return (id ? { ...feature, id } : feature) as Schemas["SubscriptionRequest"];
}

export async function loadSubscriptions(): Promise<void> {
  const begun = left;
  try {
    const found = await allSubscriptions();
    if (begun !== left) return;
    subscriptions.value = found;
    loading.value = "done";
    watchPending();
  } catch (error) {
    if (begun === left && loading.value === "begun") loading.value = "failed";
    throw error;
  }
}

async function allSubscriptions(): Promise<Subscription[]> {
  const found: Subscription[] = [];
  let cursor: string | undefined;
  do {
    const query = { limit: 1000, cursor };
    const page = await answer(service.GET("/v1/subscriptions", { params: { query } }));
    found.push(...page.features.map((feature) => readSubscription(feature as Told)));
    cursor = page.next ?? undefined;
  } while (cursor);
  return found;
}

export function forgetSubscriptions(): void {
  clearTimeout(polling);
  left++;
  subscriptions.value = [];
  selected.value = null;
  loading.value = "begun";
}

export function subscriptionOf(id: string): Subscription | undefined {
  return subscriptions.value.find((one) => one.id === id);
}

export async function save(wish: Wish, id?: string): Promise<Subscription> {
  const body = writeSubscription(wish, id);
  const options = { body, headers: GEOJSON };
  const told = id
    ? await answer(service.PUT("/v1/subscriptions/{id}", { ...options, params: { path: { id } } }))
    : await answer(service.POST("/v1/subscriptions", options));
  const saved = readSubscription(told as Told);
  keep(saved);
  return saved;
}

export async function remove(id: string): Promise<void> {
  await answer(service.DELETE("/v1/subscriptions/{id}", { params: { path: { id } } }));
  drop(id);
}

function drop(id: string): void {
  subscriptions.value = subscriptions.value.filter((one) => one.id !== id);
  if (selected.value === id) selected.value = null;
}

export async function pause(id: string): Promise<void> {
  const params = { path: { id } };
  keep(
    readSubscription(
      (await answer(service.POST("/v1/subscriptions/{id}/pause", { params }))) as Told,
    ),
  );
}

export async function resume(id: string): Promise<void> {
  const params = { path: { id } };
  keep(
    readSubscription(
      (await answer(service.POST("/v1/subscriptions/{id}/resume", { params }))) as Told,
    ),
  );
}

function keep(saved: Subscription): void {
  const known = subscriptions.value.some((one) => one.id === saved.id);
  subscriptions.value = known
    ? subscriptions.value.map((one) => (one.id === saved.id ? saved : one))
    : [saved, ...subscriptions.value];
  watchPending();
}

/** Ask for the pending ones again and again until they are active. */
function watchPending(): void {
  clearTimeout(polling);
  if (subscriptions.value.some(({ status }) => status === "pending"))
    polling = setTimeout(askPending, POLL);
}

async function askPending(): Promise<void> {
  const begun = left;
  const pending = subscriptions.value.filter(({ status }) => status === "pending").slice(0, 20);
  for (const { id } of pending) {
    try {
      const asked = service.GET("/v1/subscriptions/{id}", { params: { path: { id } } });
      const told = await answer(asked);
      if (begun !== left) return;
      keep(readSubscription(told as Told));
    } catch (error) {
      // Where the service is away, the next round asks again.
      if (begun !== left) return;
      if (error instanceof Problem && error.status === 404) drop(id);
    }
  }
  watchPending();
}
