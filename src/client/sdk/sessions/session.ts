import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { ConnectError, type StreamResponse, type Transport } from "@connectrpc/connect";
import { fromConnectError, TssError } from "../errors.ts";
import type { DeviceKey } from "./device-key.ts";

/**
 * Returns the token of a session, from the page's own backend. The client calls it when it first needs a token, and
 * again shortly before the expiry, one call at a time. Without `expireTime` it calls it again once the service refuses
 * the token.
 */
export type SessionSource = (request: SessionRequest) => Promise<SessionToken | string>;

/** What a backend needs to create the session. */
export interface SessionRequest {
  /**
   * The thumbprint of this device's key, for CreateSession: without the key, the token is then useless. Undefined if the
   * client proves no calls.
   */
  readonly proofKeyThumbprint: string | undefined;
}

/** A session's token. */
export interface SessionToken {
  /** The token, `tss_session_…`. */
  readonly token: string;
  /** When the session expires: a Date, or a text as JSON has it. */
  readonly expireTime?: Date | string | undefined;
  /**
   * The session's user. A client that has had a session of one user then refuses those of another one with
   * SESSION_UNAVAILABLE: somebody else may have signed in in another tab, and would get keys of the former user's seed.
   */
  readonly userReference?: string | undefined;
}

/**
 * Sends the token of a session with every call of a transport. Sends a call again once, with a new token, if the service
 * answers that the session has expired; a stream only before its first message. Sets no timer: it notices an expiry
 * when the next call begins. A failing source rejects the call with SESSION_UNAVAILABLE, and the next call asks again.
 */
export function withSession(
  transport: Transport,
  source: SessionSource,
  openDevice?: () => Promise<DeviceKey>,
): Transport {
  const tokens = createTokens(async () => {
    const device = await openDevice?.();
    return source({ proofKeyThumbprint: device?.thumbprint });
  });
  return {
    async unary(method, signal, timeoutMs, header, input, values) {
      const send = (token: string) =>
        transport.unary(method, signal, timeoutMs, authorized(header, token), input, values);
      const token = await tokens.current(signal);
      try {
        return await send(token);
      } catch (cause) {
        if (!isStale(cause)) throw cause;
        return await send(await tokens.after(token, signal));
      }
    },
    async stream(method, signal, timeoutMs, header, input, values) {
      const requests = await collect(input);
      const send = (token: string) =>
        transport.stream(method, signal, timeoutMs, authorized(header, token), replay(requests), values);
      const token = await tokens.current(signal);
      const renew = async (cause: unknown) =>
        send(isStale(cause) ? await tokens.after(token, signal) : token);
      const reply = await send(token).catch((cause: unknown) => {
        if (!isRepairable(cause)) throw cause;
        return renew(cause).then((renewed) => ({ ...renewed, isRenewed: true }));
      });
      return "isRenewed" in reply ? reply : { ...reply, message: renewing(reply.message, renew) };
    },
  };
}

/** Yields the messages of a stream. Begins again once if the session expired before the first message. */
async function* renewing<I extends DescMessage, O extends DescMessage>(
  messages: AsyncIterable<MessageShape<O>>,
  renew: (cause: unknown) => Promise<StreamResponse<I, O>>,
): AsyncGenerator<MessageShape<O>, void> {
  let hasBegun = false;
  let refusal: unknown;
  try {
    for await (const message of messages) {
      hasBegun = true;
      yield message;
    }
    return;
  } catch (cause) {
    if (hasBegun || !isRepairable(cause)) throw cause;
    refusal = cause;
  }
  yield* (await renew(refusal)).message;
}

function authorized(header: HeadersInit | undefined, token: string): Headers {
  const merged = new Headers(header);
  merged.set("authorization", `Bearer ${token}`);
  return merged;
}

/** The service deletes a session a day after its expiry, and then does not know the token. */
const STALE_REASONS: ReadonlySet<string> = new Set(["SESSION_EXPIRED", "INVALID_KEY"]);

function isStale(cause: unknown): boolean {
  return STALE_REASONS.has(fromConnectError(ConnectError.from(cause)).reason);
}

/** The reply to a stream has no status by which a fetch would see that its proof needs another nonce. */
function isRepairable(cause: unknown): boolean {
  return isStale(cause) || fromConnectError(ConnectError.from(cause)).reason === "PROOF_NONCE_REQUIRED";
}

interface Tokens {
  /** Returns a token that has not expired as far as the client knows. */
  current(signal: AbortSignal | undefined): Promise<string>;
  /** Returns a token that is newer than a refused one. */
  after(refused: string, signal: AbortSignal | undefined): Promise<string>;
}

function createTokens(source: () => Promise<SessionToken | string>): Tokens {
  let held: HeldToken | undefined;
  let renewal: Promise<HeldToken> | undefined;
  /** The user that this client acts for, once a token names one. */
  let user: string | undefined;

  function renew(): Promise<HeldToken> {
    renewal ??= ask(source).then(
      (token) => {
        renewal = undefined;
        user ??= token.userReference;
        if ((token.userReference ?? user) !== user)
          throw unavailable("the session is another user's; make another client for that user");
        held = token;
        return token;
      },
      (cause: unknown) => {
        renewal = undefined;
        throw unavailable("the session's function failed", cause);
      },
    );
    return renewal;
  }

  return {
    async current(signal) {
      if (held !== undefined && Date.now() < held.renewAtMs) return held.token;
      return (await unlessAborted(renew(), signal)).token;
    },
    async after(refused, signal) {
      if (held !== undefined && held.token !== refused) return held.token;
      return (await unlessAborted(renew(), signal)).token;
    },
  };
}

interface HeldToken {
  readonly token: string;
  /** By the clock of `Date`; infinite for an unknown expiry. */
  readonly renewAtMs: number;
  readonly userReference: string | undefined;
}

async function ask(source: () => Promise<SessionToken | string>): Promise<HeldToken> {
  const answer = await source();
  const { token, expireTime, userReference } =
    typeof answer === "string" ? { token: answer, expireTime: undefined, userReference: undefined } : answer;
  if (typeof token !== "string" || token === "") throw new TypeError("it returned no token");
  const leftMs = expireTime === undefined ? 0 : new Date(expireTime).getTime() - Date.now();
  // A clock that is wrong makes a new token look old. The service then says when it has expired.
  if (!(leftMs > 0)) return { token, userReference, renewAtMs: Number.POSITIVE_INFINITY };
  return { token, userReference, renewAtMs: Date.now() + leftMs - Math.min(MARGIN_MS, leftMs / 10) };
}

/** How long before its expiry a token is renewed; a tenth of its lifetime if that is shorter. */
const MARGIN_MS = 30_000;

/** Rejects when the signal aborts. Leaves no listener behind. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    const end = () => signal.removeEventListener("abort", onAbort);
    work.then(resolve, reject).finally(end);
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
  });
}

function unavailable(finding: string, cause?: unknown): TssError {
  return new TssError("SESSION_UNAVAILABLE", finding, { cause });
}

async function collect<T>(input: AsyncIterable<T>): Promise<readonly T[]> {
  const collected: T[] = [];
  for await (const each of input) collected.push(each);
  return collected;
}

async function* replay<T>(requests: readonly T[]): AsyncGenerator<T, void> {
  yield* requests;
}
