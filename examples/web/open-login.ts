import type { Login } from "./login.ts";
import { type OwnBackend, openOwnBackend } from "./own-backend.ts";
import { openProviderLogin, type TrustedProvider } from "./provider-login.ts";

/** Asks where the page is served how its users sign in: by its own backend, or by an identity provider. */
export async function openLogin(): Promise<Login> {
  const reply = await fetch("/login");
  const said = (await reply.json()) as OwnBackend | TrustedProvider;
  return "provider" in said ? await openProviderLogin(said) : openOwnBackend(said);
}
