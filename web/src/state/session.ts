// Who is signed in. The token lives as long as the browser's tab.
import { answer, service, useToken } from "../api/client";
import { Problem } from "../api/problem";
import { Observable } from "./observable";
import { ofTab } from "./storage";

export interface Account {
  name: string;
  rights: readonly string[];
}

const KEY = "geocast-token";
const REFUSALS = new Set([401, 403]);

export const account = new Observable<Account | null>(null);

export function may(right: "publish" | "subscribe" | "admin"): boolean {
  return account.value?.rights.includes(right) ?? false;
}

export async function signIn(token: string): Promise<void> {
  useToken(token);
  try {
    const { name, rights } = await answer(service.GET("/v1/me"));
    ofTab.setItem(KEY, token);
    account.value = { name, rights };
  } catch (error) {
    // What the service did not refuse may be tried again when it can be reached.
    if (error instanceof Problem && REFUSALS.has(error.status)) forget();
    else ofTab.setItem(KEY, token);
    useToken("");
    throw error;
  }
}

export function signOut(): void {
  forget();
  account.value = null;
}

function forget(): void {
  useToken("");
  ofTab.removeItem(KEY);
}

/** Sign in by the one-time link that the page was opened with, or with the token of this tab. */
export async function resume(): Promise<void> {
  const kept = ofTab.getItem(KEY);
  if (!(await followLink()) && kept) await signIn(kept);
}

/** Sign in by the link in the address, if it is one; who is signed in stays so until it proves good. */
export async function followLink(): Promise<boolean> {
  const code = takeLink();
  if (!code) return false;
  const token = await redeem(code);
  if (account.value) signOut();
  await signIn(token);
  return true;
}

/** The code of a one-time link; it is taken out of the address, which others may see. */
function takeLink(): string | null {
  const found = new URLSearchParams(location.hash.slice(1)).get("link");
  if (found !== null) history.replaceState(null, "", location.pathname + location.search);
  return found;
}

async function redeem(code: string): Promise<string> {
  try {
    return (await answer(service.POST("/v1/links/redeem", { body: { code } }))).token;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const words =
      "This sign-in link cannot be used any more; the command “geocast link” makes another.";
    throw new Problem(`${words} ${error.message}`, error.status);
  }
}
