import {
  type DescMessage,
  type DescMethodUnary,
  type DescService,
  getOption,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import { type CallOptions, createClient, type Transport } from "@connectrpc/connect";
import { Idempotency, idempotency } from "../../gen/client/tss/v1/options_pb.ts";
import { type ActionOptions, runAction } from "./action.ts";
import { TssError } from "./errors.ts";
import { randomUuid } from "./random-uuid.ts";
import { createServiceCaller, type ServiceCaller } from "./service-caller.ts";

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
