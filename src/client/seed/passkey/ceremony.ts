import { checkTimeout } from "../../sdk/checks.ts";
import { TssError } from "../../sdk/errors.ts";

/** Options of every call that asks the user. */
export interface PasskeyOptions {
  /** Ends the call with reason ABORTED; the error's `cause` is the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs one question to the user, and converts each failure into a {@link TssError}. The question ends at the time limit
 * or with the caller's signal, even if the browser's passkey provider ignores both.
 */
export async function runCeremony(
  { timeoutMs = CEREMONY_MS, refusedAs = {} }: CeremonyArgs,
  options: PasskeyOptions,
  ask: (platform: CredentialsContainer, limits: CeremonyLimits) => Promise<Credential | null>,
): Promise<PublicKeyCredential> {
  checkTimeout(timeoutMs);
  const platform = credentialsHere();
  if (platform === undefined) throw unavailable();
  const timeout = AbortSignal.timeout(Math.ceil(timeoutMs));
  const signal = options.signal === undefined ? timeout : AbortSignal.any([options.signal, timeout]);
  try {
    signal.throwIfAborted();
    const ended = new Promise<never>((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
    const answer = await Promise.race([ask(platform, { signal, timeout: timeoutMs + GRACE_MS }), ended]);
    if (answer === null) throw refused();
    return answer as PublicKeyCredential;
  } catch (error) {
    if (options.signal?.aborted === true) {
      throw new TssError("ABORTED", "the caller aborted", { cause: options.signal.reason });
    }
    if (timeout.aborted) {
      throw new TssError("TIMEOUT", `the user did not answer within ${timeoutMs} ms`, { cause: error });
    }
    if (error instanceof TssError) throw error;
    throw toTssError(error, refusedAs);
  }
}

/** How to run a question. */
export interface CeremonyArgs {
  /** The time limit in milliseconds. Default: 300,000. */
  readonly timeoutMs?: number | undefined;
  /** Errors that mean something else for this question, by the name of the browser's error. */
  readonly refusedAs?: Readonly<Record<string, () => TssError>>;
}

/** What the browser is told about the end of a question. */
export interface CeremonyLimits {
  readonly signal: AbortSignal;
  /** In milliseconds. */
  readonly timeout: number;
}

/** The platform's passkeys, or undefined: in Node, in a worker, in React Native, and in a page without HTTPS. */
export function credentialsHere(): CredentialsContainer | undefined {
  const { navigator, PublicKeyCredential } = globalThis as {
    readonly navigator?: { readonly credentials?: CredentialsContainer };
    readonly PublicKeyCredential?: unknown;
  };
  return PublicKeyCredential === undefined ? undefined : navigator?.credentials;
}

/** The recommendation of WebAuthn for questions that verify the user. */
const CEREMONY_MS = 300_000;
/** The browser's own limit comes later, because its error does not tell a time-out from a refusal. */
const GRACE_MS = 10_000;

function unavailable(cause?: unknown): TssError {
  return new TssError(
    "PASSKEY_UNAVAILABLE",
    "no passkeys here: WebAuthn needs a page with https:// or localhost, and a device or key that verifies its user",
    { cause },
  );
}

function refused(cause?: unknown): TssError {
  return new TssError(
    "PASSKEY_REFUSED",
    "the user cancelled, or the browser found no fitting passkey, or it does not let this page ask",
    { cause },
  );
}

/** Browsers report every refusal and every missing passkey as NotAllowedError, so that a page cannot tell them apart. */
function toTssError(error: unknown, refusedAs: Readonly<Record<string, () => TssError>>): TssError {
  // An extension's error may be of another realm, and no instance of this one's Error.
  const name = String((Object(error) as { readonly name?: unknown }).name);
  const special = Object.hasOwn(refusedAs, name) ? refusedAs[name] : undefined;
  if (special !== undefined) return special();
  switch (name) {
    case "NotAllowedError":
    case "AbortError":
      return refused(error);
    case "NotSupportedError":
    case "ConstraintError":
      return unavailable(error);
    case "SecurityError":
      return new TssError("VALIDATION", "rpId: must be this page's domain or a parent of it", {
        metadata: { field: "rpId" },
        cause: error,
      });
    default:
      return new TssError("PASSKEY_FAILED", "the browser or its passkey provider failed", { cause: error });
  }
}
