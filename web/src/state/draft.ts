// The subscription that is being made or changed, and what it would have matched.
import { answer, GEOJSON, service } from "../api/client";
import { Problem, wordsFor } from "../api/problem";
import { type Condition, type Join, writeFilter } from "../model/conditions";
import { readFilter } from "../model/conditions-reader";
import { keyOf } from "../model/events";
import { KINDS, type Kind, kindOf, type PlainGeometry } from "../model/geometry";
import { isPossible, type Relation } from "../model/relations";
import { typesOf } from "./attributes";
import { events } from "./live";
import { Observable } from "./observable";
import { type Subscription, save, type Wish, writeSubscription } from "./subscriptions";
import { openEvent, panel } from "./view";

export interface Draft {
  id?: string;
  name: string;
  geometry: PlainGeometry | null;
  /** The name of the area, where it has one. */
  place: string;
  relation: Relation;
  eventKind: Kind;
  mode: "form" | "text";
  rows: Condition[];
  join: Join;
  text: string;
  rest: Record<string, unknown>;
}

export type Preview =
  | { state: "empty" | "asking" }
  | { state: "done"; considered: number; matched: number; keys: string[]; since: string | null }
  | { state: "refused"; words: string; position: number | null; inFilter: boolean }
  /** Nobody could be asked; whether it can be had is seen when it is asked for. */
  | { state: "unknown"; words: string };

export const draft = new Observable<Draft | null>(null);
export const preview = new Observable<Preview>({ state: "empty" });

const PAUSE = 350;
let timer: ReturnType<typeof setTimeout> | undefined;
let asked = 0;

export function newDraft(geometry: PlainGeometry | null = null): void {
  start({
    name: "",
    geometry,
    place: "",
    relation: "intersects",
    eventKind: events.commonKind,
    mode: "form",
    rows: [],
    join: "AND",
    text: "",
    rest: {},
  });
}

export function editDraft(subscription: Subscription): void {
  const { id, name, geometry, relation, filter, rest } = subscription;
  const form = readFilter(filter);
  start({
    id,
    name: name === id ? "" : name,
    geometry,
    place: "",
    relation,
    eventKind: kindFor(relation, geometry),
    mode: form ? "form" : "text",
    rows: form?.rows ?? [],
    join: form?.join ?? "AND",
    text: filter,
    rest,
  });
}

/** The kind of event to show relations for: the commonest that can have this one. */
function kindFor(relation: Relation, geometry: PlainGeometry | null): Kind {
  const kinds = [events.commonKind, ...KINDS];
  const fitting = kinds.find((kind) => geometry && isPossible(relation, kind, kindOf(geometry)));
  return fitting ?? events.commonKind;
}

function start(next: Draft): void {
  openEvent.value = null;
  draft.value = next;
  panel.value = "editor";
  askSoon();
}

export function change(part: Partial<Draft>): void {
  if (!draft.value) return;
  const next = { ...draft.value, ...part };
  if (next.geometry && !isPossible(next.relation, next.eventKind, kindOf(next.geometry)))
    next.relation = "intersects";
  draft.value = next;
  if (Object.keys(part).some((key) => key !== "name")) askSoon();
}

export function filterOf({ mode, rows, join, text }: Draft): string {
  return mode === "form" ? writeFilter(rows, join, typesOf) : text.trim();
}

export function wishOf(current: Draft): Wish {
  const { name, geometry, relation, rest } = current;
  return {
    name: name.trim() || suggestedName(current),
    geometry,
    relation,
    filter: filterOf(current),
    rest,
  };
}

export function suggestedName(current: Draft): string {
  const filter = filterOf(current);
  const { geometry, place, relation } = current;
  const area = geometry ? `${relation} ${place || kindOf(geometry)}` : "anywhere";
  return filter ? `${area}, ${filter}`.slice(0, 60) : area;
}

/** Something to ask for is there: a place, or a condition. */
export function isAskable(current: Draft): boolean {
  return current.geometry !== null || filterOf(current) !== "";
}

export function dismissDraft(): void {
  clearTimeout(timer);
  asked++;
  draft.value = null;
  preview.value = { state: "empty" };
  panel.value = "subscriptions";
}

export async function saveDraft(): Promise<Subscription> {
  if (!draft.value) throw new Error("There is nothing to save.");
  const saved = await save(wishOf(draft.value), draft.value.id);
  dismissDraft();
  return saved;
}

function askSoon(): void {
  clearTimeout(timer);
  timer = setTimeout(ask, PAUSE);
}

async function ask(): Promise<void> {
  const turn = ++asked;
  const current = draft.value;
  if (!current || !isAskable(current)) {
    preview.value = { state: "empty" };
    return;
  }
  preview.value = { state: "asking" };
  const found = await answered(current);
  if (turn === asked) preview.value = found;
}

async function answered(current: Draft): Promise<Preview> {
  try {
    const body = writeSubscription(wishOf(current));
    const told = await answer(
      service.POST("/v1/subscriptions/preview", { body, headers: GEOJSON }),
    );
    const { considered, matched, ids, publishers, since } = told;
    const keys = ids.map((id, at) => keyOf(publishers[at] ?? "", id));
    return { state: "done", considered, matched, keys, since };
  } catch (error) {
    if (!(error instanceof Problem) || error.status === 0 || error.status >= 500)
      return { state: "unknown", words: wordsFor(error) };
    const place = error instanceof Problem ? error.position : null;
    const inFilter = place !== null || /filter refused/i.test(wordsFor(error));
    return { state: "refused", words: wordsFor(error), position: place, inFilter };
  }
}
