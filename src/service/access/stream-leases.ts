import { Code, type ContextValues, createContextKey, type Interceptor } from "@connectrpc/connect";
import type { Signals } from "../platform/coordination/signals.ts";
import { IDENTITY_PROVIDER_TOPICS, KEY_KINDS } from "../platform/coordination/topics.ts";
import { ERROR_CATALOGUE } from "../platform/errors/catalogue.ts";
import { ServiceError } from "../platform/errors/service-error.ts";
import { addressBlock } from "./address-block.ts";
import { clientAddressKey } from "./client-address.ts";

/**
 * Creates an interceptor that limits the open streams of each key, project and address, and ends the streams of invalid
 * keys. When a key is revoked, expires, or no longer allows the caller's address or page, its streams end with the error
 * that a new call would get. All streams share one timer, and the streams of one key, address and origin share one check.
 */
export function createStreamLeases({
  bounds,
  signals,
  sweepMs = SWEEP_MS,
}: StreamLeaseOptions): StreamLeases {
  const counts = new Map<string, number>();
  /** The leases by key, address and origin. */
  const groups = new Map<string, Set<Lease>>();
  let timer: NodeJS.Timeout | undefined;
  const unsubscribe = KEY_KINDS.map((kind) =>
    signals?.subscribeKind(kind, (keyId) => {
      for (const leases of groups.values()) if (standingIn(leases)?.keyId === keyId) void checkLeases(leases);
    }),
  );
  // A stream does not know the provider of its session.
  unsubscribe.push(signals?.subscribeKind(IDENTITY_PROVIDER_TOPICS, () => void sweep()));

  function take(lease: Lease): void {
    const standing = streamStandingOf(lease.values);
    const subjects = subjectsOf(lease.values, bounds);
    for (const [subject, maxCount] of subjects)
      if ((counts.get(subject) ?? 0) >= maxCount) throw tooMany(subject, maxCount);
    for (const [subject] of subjects) counts.set(subject, (counts.get(subject) ?? 0) + 1);
    if (standing !== undefined) {
      const leases = groups.get(standing.name) ?? new Set();
      groups.set(standing.name, leases.add(lease));
      timer ??= setInterval(() => void sweep(), sweepMs).unref();
    }
  }

  function release(lease: Lease): void {
    for (const [subject] of subjectsOf(lease.values, bounds)) {
      const left = (counts.get(subject) ?? 1) - 1;
      if (left === 0) counts.delete(subject);
      else counts.set(subject, left);
    }
    const standing = streamStandingOf(lease.values);
    if (standing === undefined) return;
    const leases = groups.get(standing.name);
    leases?.delete(lease);
    if (leases?.size === 0) groups.delete(standing.name);
    if (groups.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  const desk = { take, release };

  async function sweep(): Promise<void> {
    await Promise.all([...groups.values()].map(checkLeases));
  }

  return {
    sweep,
    interceptor: (next) => async (request) => {
      const response = await next(request);
      if (!response.stream) return response;
      return { ...response, message: new HeldMessages(response.message, request.contextValues, desk) };
    },
    close() {
      clearInterval(timer);
      for (const leave of unsubscribe) leave?.();
    },
  };
}

/** The limits on open streams in this process. */
export interface StreamBounds {
  /** Also for all sessions of a user together. */
  readonly perKey: number;
  readonly perProject: number;
  /** For calls without a key. */
  readonly perAddress: number;
}

export interface StreamLeaseOptions {
  readonly bounds: StreamBounds;
  /** Signals that report changed keys. Default: none, so that only the sweep notices a change. */
  readonly signals?: Signals;
  /** The interval between checks of the keys of open streams. Default 1 s. */
  readonly sweepMs?: number;
}

/** The open streams of this process. */
export interface StreamLeases {
  /** Counts streams, refuses those beyond the bounds, and ends those whose key becomes invalid. */
  readonly interceptor: Interceptor;
  /** Checks all keys now and ends the streams of invalid ones. Never rejects. */
  sweep(): Promise<void>;
  close(): void;
}

interface Lease {
  readonly values: ContextValues;
  /** Ends the stream with this error, and rejects its pending read. */
  cut(reason: unknown): void;
}

interface LeaseDesk {
  take(lease: Lease): void;
  release(lease: Lease): void;
}

const SWEEP_MS = 1_000;

function standingIn(leases: ReadonlySet<Lease>): StreamStanding | undefined {
  for (const { values } of leases) return streamStandingOf(values);
  return undefined;
}

/** Ends the streams of one key, address and origin if the key is no longer valid. Never rejects. */
async function checkLeases(leases: ReadonlySet<Lease>): Promise<void> {
  try {
    await standingIn(leases)?.check();
  } catch (reason) {
    // A database failure does not make a key invalid.
    if (!isRefusal(reason)) return;
    for (const lease of [...leases]) lease.cut(reason);
  }
}

function isRefusal(reason: unknown): boolean {
  if (!(reason instanceof ServiceError)) return false;
  const { code } = ERROR_CATALOGUE[reason.reason];
  return code === Code.Unauthenticated || code === Code.PermissionDenied;
}

/**
 * Returns the subjects whose limits a stream counts against. Computed again when the stream ends rather than kept,
 * because most streams are long.
 */
function subjectsOf(
  values: ContextValues,
  bounds: StreamBounds,
): (readonly [subject: string, maxCount: number])[] {
  const standing = streamStandingOf(values);
  if (standing === undefined) {
    const address = values.get(clientAddressKey) ?? "";
    return [[`address ${addressBlock(address)}`, bounds.perAddress]];
  }
  const { keyId, projectId, userReference } = standing;
  const ofKey =
    userReference === undefined
      ? ([`key ${keyId}`, bounds.perKey] as const)
      : ([`user ${projectId} ${userReference}`, bounds.perKey] as const);
  return projectId === undefined ? [ofKey] : [ofKey, [`project ${projectId}`, bounds.perProject]];
}

function tooMany(subject: string, maxCount: number): ServiceError {
  const [per = ""] = subject.split(" ");
  return new ServiceError("TOO_MANY_STREAMS", `one ${per} may have at most ${maxCount} open streams`, {
    metadata: { per, maxCount: String(maxCount) },
  });
}

/** The messages of a stream, which hold a lease from the first read to the end. */
class HeldMessages<T> implements AsyncIterableIterator<T>, Lease {
  readonly values: ContextValues;
  readonly #messages: AsyncIterable<T>;
  readonly #desk: LeaseDesk;
  #inner: AsyncIterator<T> | undefined;
  #isHeld = false;
  /** The error that ended the stream. */
  #reason: unknown;
  /** Rejects the pending read. */
  #reject: ((reason: unknown) => void) | undefined;

  constructor(messages: AsyncIterable<T>, values: ContextValues, desk: LeaseDesk) {
    this.#messages = messages;
    this.values = values;
    this.#desk = desk;
  }

  [Symbol.asyncIterator](): this {
    this.#desk.take(this);
    this.#isHeld = true;
    this.#inner = this.#messages[Symbol.asyncIterator]();
    return this;
  }

  next(): Promise<IteratorResult<T>> {
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      if (this.#reason !== undefined || this.#inner === undefined) {
        this.#fail(this.#reason);
        return;
      }
      this.#inner.next().then(
        (result) => {
          this.#reject = undefined;
          if (result.done === true) this.#end();
          resolve(result);
        },
        (reason: unknown) => this.#fail(reason),
      );
    });
  }

  cut(reason: unknown): void {
    this.#reason = reason;
    if (this.#reject !== undefined) this.#fail(reason);
  }

  async return(): Promise<IteratorResult<T>> {
    this.#end();
    return (await this.#inner?.return?.()) ?? { done: true, value: undefined };
  }

  #fail(reason: unknown): void {
    this.#end();
    // Does not wait for the inner stream to end, because it may be stuck.
    this.#inner?.return?.().catch(() => {});
    this.#reject?.(reason);
  }

  #end(): void {
    if (this.#isHeld) this.#desk.release(this);
    this.#isHeld = false;
  }
}

/** The check whether the caller that opened a stream may keep it. */
export interface StreamStanding {
  /** Identifies the key, the address and the page's origin. Streams with the same name share one check. */
  readonly name: string;
  readonly keyId: string;
  /** Undefined for an operator's key. */
  readonly projectId: string | undefined;
  /** The user of a session, whose sessions count together; undefined for a key. */
  readonly userReference?: string | undefined;
  /** Rejects with the error that a new call of this caller would get. */
  check(): Promise<void>;
}

const standingKey = createContextKey<StreamStanding | undefined>(undefined, { description: "standing" });

/** Stores a stream's check in the context. Only the gate calls this. */
export function setStreamStanding(values: ContextValues, standing: StreamStanding): void {
  values.set(standingKey, standing);
}

/** Returns the check of a stream's caller; undefined for a call without a key. */
export function streamStandingOf(values: ContextValues): StreamStanding | undefined {
  return values.get(standingKey);
}
