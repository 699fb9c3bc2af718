// The service, as typed by its own OpenAPI document.
import createClient, { type Client } from "openapi-fetch";
import type { components, paths } from "../generated/api";
import { Problem, problemOf } from "./problem";

export type Schemas = components["schemas"];

/** The address of the service: the page lies at its root. */
export const ROOT = new URL(".", document.baseURI).href.replace(/\/$/, "");

export const GEOJSON = { "Content-Type": "application/geo+json" } as const;

let token = "";

export function useToken(next: string): void {
  token = next;
}

export function authorization(): Record<string, string> {
  return token ? { Authorization: `Bearer ${token}` } : {};
}

export const service: Client<paths> = createClient<paths>({ baseUrl: ROOT });

service.use({
  onRequest({ request }) {
    for (const [name, value] of Object.entries(authorization())) request.headers.set(name, value);
    return request;
  },
});

interface Answer<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** What fetch throws, whatever kept the request from being answered. */
function away(reason: unknown): never {
  if (reason instanceof TypeError) throw new Problem("The service cannot be reached.", 0);
  throw reason;
}

/** The data of an answer; a refusal becomes a Problem. */
export async function answer<T>(asked: Promise<Answer<T>>): Promise<NonNullable<T>> {
  const { data, error, response } = await asked.catch(away);
  if (!response.ok) throw problemOf(error, response.status);
  return (data ?? undefined) as NonNullable<T>;
}
