// Signing in with a token; the map is there already, behind it.
import { html, nothing } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { wordsFor } from "../api/problem";
import { signIn } from "../state/session";
import { PageElement } from "./element";

/** What a header can carry. */
const PRINTABLE = /^[!-~]*$/;

@customElement("sign-in")
export class SignIn extends PageElement {
  /** Why the page could not sign in by itself. */
  @property() reason = "";
  @state() private busy = false;

  override firstUpdated(): void {
    this.querySelector("input")?.focus();
  }

  private async submit(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    const token = String(new FormData(event.target as HTMLFormElement).get("token") ?? "").trim();
    this.reason = token ? "" : "Paste your token first.";
    if (!PRINTABLE.test(token))
      this.reason ||= "This is no token: it has characters that none has.";
    if (this.reason) return;
    this.busy = true;
    try {
      await signIn(token);
    } catch (error) {
      this.reason = wordsFor(error);
    } finally {
      this.busy = false;
    }
  }

  override render() {
    return html`<div class="sign-in card" role="dialog" aria-labelledby="sign-in-title">
      <h1 id="sign-in-title">Geocast</h1>
      <p class="lead">See events as they happen. Subscribe to a place by drawing it.</p>
      <form @submit=${this.submit}>
        <label for="token">Access token</label>
        <input
          id="token"
          name="token"
          type="password"
          autocomplete="off"
          spellcheck="false"
          placeholder="gct_…"
          aria-invalid=${this.reason ? "true" : "false"}
          aria-describedby="token-help token-error"
        />
        <p id="token-error" class="error" role="alert">${this.reason || nothing}</p>
        <button class="primary" ?disabled=${this.busy}>${this.busy ? "Signing in…" : "Sign in"}</button>
      </form>
      <p id="token-help" class="hint">
        The first start of the service wrote the administrator's token to the file
        <code>admin-token</code> in its data folder. What you paste stays in this tab only.
      </p>
    </div>`;
  }
}
