import {
  type DescMessage,
  type DescMethodUnary,
  type DescService,
  getOption,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import { type CallOptions, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { bytesToHex } from "@noble/hashes/utils.js";
import { Idempotency, idempotency } from "../../../../gen/client/tss/v1/options_pb.ts";
import { sleep } from "../../../protocol/chain/poll.ts";
import { type Action, type ActionOptions, runAction } from "../action.ts";
import { fromConnectError, isAnswer, isTransportFailure, TssError } from "../errors.ts";

/** Wraps the generated client of a service: converts errors to TssErrors and retries calls that are safe to repeat. */
export function createServiceCalls<S extends DescService>(
  service: S,
  transport: Transport,
  caller = createServiceCaller(),
): ServiceCalls<S> {
  const client = createClient(service, transport) as Readonly<Record<string, unknown>>;
  const unary = service.methods.filter(({ methodKind }) => methodKind === "unary");
  const calls = unary.map((method) => {
    const { localName, output } = method;
    const perform = client[localName] as AnyCall;
    const isKeyed = getOption(method, idempotency) === Idempotency.KEYED;
    const once = (request: object = {}, options: RequestOptions = {}) =>
      callOnce(caller, perform, request, { ...options, isKeyed });
    const items = output.fields.find(({ fieldKind }) => fieldKind === "list")?.localName;
    const isList = output.field["nextPageToken"] !== undefined && items !== undefined;
    return [localName, isList ? listing(once, items) : once];
  });
  return Object.fromEntries(calls) as ServiceCalls<S>;
}

/** Options that every call accepts. */
export interface RequestOptions extends Pick<ActionOptions, "signal" | "traceparent"> {
  /** The time limit of one call, or of one page of a list, in milliseconds. Default 60,000. */
  readonly timeoutMs?: number | undefined;
  /**
   * The idempotency key of a call that the contract marks IDEMPOTENCY_KEYED: the same key with the same request is the
   * same call. Default: a random key, which errors carry in their metadata. Other calls ignore it.
   */
  readonly idempotencyKey?: string | undefined;
}

/** The item type of a list. */
export type ListItem<O> = {
  [Name in Exclude<keyof O, `$${string}`>]: O[Name] extends readonly (infer Item)[] ? Item : never;
}[Exclude<keyof O, `$${string}`>];

/** One call. A list yields its items and fetches pages on demand; any other call resolves to its reply. */
export type ServiceCall<I extends DescMessage, O extends DescMessage> =
  MessageShape<O> extends { readonly nextPageToken: string }
    ? (request?: MessageInitShape<I>, options?: RequestOptions) => AsyncIterable<ListItem<MessageShape<O>>>
    : (request: MessageInitShape<I>, options?: RequestOptions) => Promise<MessageShape<O>>;

/** The unary calls of a service. They throw only TssErrors. */
export type ServiceCalls<S extends DescService> = {
  readonly [Name in keyof S["method"] as S["method"][Name] extends DescMethodUnary
    ? Name
    : never]: S["method"][Name] extends DescMethodUnary<infer I, infer O> ? ServiceCall<I, O> : never;
};

type AnyCall = (request: object, options: CallOptions) => Promise<object>;

async function callOnce(
  call: ServiceCaller,
  perform: AnyCall,
  request: object,
  options: RequestOptions & { readonly isKeyed: boolean },
): Promise<object> {
  const { timeoutMs = 60_000, idempotencyKey = randomUuid(), isKeyed } = options;
  return await runAction(timeoutMs, options, async (action) => {
    if (isKeyed) action.facts["idempotencyKey"] = idempotencyKey;
    const headers: Record<string, string> = isKeyed ? { "idempotency-key": idempotencyKey } : {};
    return await call(action, (callOptions) => perform(request, callOptions), headers);
  });
}

/**
 * Yields the items of all pages, starting with the requested page. It fetches the next page with that page's first
 * item.
 */
function listing(once: (request: object, options?: RequestOptions) => Promise<object>, items: string) {
  return async function* (request: object = {}, options?: RequestOptions): AsyncGenerator<unknown, void> {
    let from = request;
    for (;;) {
      const page = (await once(from, options)) as Readonly<Record<string, unknown>>;
      const found = page[items] as readonly unknown[];
      yield* found;
      const pageToken = page["nextPageToken"];
      if (typeof pageToken !== "string" || pageToken === "") return;
      // The contract's lists end with an empty token. Empty pages could otherwise continue forever.
      if (found.length === 0)
        throw new TssError("INTERNAL", "the service continues a list after an empty page");
      from = { ...request, pageToken };
    }
  };
}

/**
 * Creates the function that makes a client's unary calls. It repeats a call while the service asks for it, and while
 * the service is unreachable: a few times, or for `reconnectTimeoutMs` if the service has answered this client. A
 * replica that stops, or that a balancer still chooses for a while, then costs no action. The action's deadline bounds
 * both.
 *
 * Use it only for calls that are safe to repeat: reads, calls with an identity of their own, and ReserveSign under an
 * idempotency key.
 */
export function createServiceCaller(reconnectTimeoutMs = RECONNECT_TIMEOUT_MS): ServiceCaller {
  let hasAnswered = false;
  return async (action, perform, headers = {}) => {
    let failureCount = 0;
    let firstFailure = 0;
    for (;;) {
      try {
        const timeoutMs = Math.min(Math.ceil(action.remainingMs()), CALL_TIMEOUT_MS);
        const reply = await perform({
          signal: action.signal,
          timeoutMs,
          headers: { ...action.headers, ...headers },
        });
        hasAnswered = true;
        return reply;
      } catch (cause) {
        action.signal.throwIfAborted();
        const error = ConnectError.from(cause);
        const failure = fromConnectError(error);
        if (!isTransportFailure(error)) {
          failureCount = 0;
          hasAnswered ||= isAnswer(error);
          // A wait beyond the deadline would hide the reason behind a time-out.
          if (failure.retryAfterMs === undefined || failure.retryAfterMs >= action.remainingMs())
            throw failure;
          await sleep(Math.max(50, failure.retryAfterMs), action.signal);
          continue;
        }
        failureCount++;
        if (failureCount === 1) firstFailure = performance.now();
        const patienceMs = hasAnswered ? reconnectTimeoutMs : 0;
        const isOver = failureCount >= MIN_ATTEMPTS && performance.now() - firstFailure >= patienceMs;
        // A socket that was idle during a computation is often dead afterwards, so the first retry follows at once.
        // The others differ between callers, so that those of one outage do not return together.
        const backoffMs = Math.min(50 * 2 ** failureCount, MAX_PAUSE_MS) * (0.75 + Math.random() / 4);
        const pauseMs = Math.max(failureCount === 1 ? 0 : backoffMs, failure.retryAfterMs ?? 0);
        if (isOver || pauseMs >= action.remainingMs()) throw failure;
        await sleep(pauseMs, action.signal);
      }
    }
  };
}

/** Makes one unary call of an action, and repeats it. */
export type ServiceCaller = <T>(
  action: Action,
  perform: (options: CallOptions) => Promise<T>,
  headers?: Record<string, string>,
) => Promise<T>;

/** Longer than a balancer needs to notice a stopped replica. */
const RECONNECT_TIMEOUT_MS = 30_000;
const CALL_TIMEOUT_MS = 60_000;
/** The number of attempts when the service has not answered yet. They take about 1.5 s. */
const MIN_ATTEMPTS = 5;
const MAX_PAUSE_MS = 2_000;

/** Returns a random UUID (version 4). React Native and pages without TLS have no `crypto.randomUUID`. */
export function randomUuid(): string {
  const { crypto } = globalThis;
  if (typeof crypto.randomUUID === "function") return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return bytesToHex(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** The page size of a list. */
export interface ListArgs {
  /** The maximum number of items per page. Default 50, at most 200. */
  readonly pageSize?: number | undefined;
}
