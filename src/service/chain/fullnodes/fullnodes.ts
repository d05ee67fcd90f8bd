import { unlessAborted } from "../../../protocol/unless-aborted.ts";
import { type Clock, startDeadline } from "../../platform/lifecycle/clock.ts";
import { createServedChain } from "./served-chain.ts";

/**
 * Creates a fetch function that fails over between fullnodes. It sends each call to the first node, and to the next one
 * if that is unreachable, does not begin to respond in time, is overloaded or is unavailable. A call may thus reach
 * several nodes. That is safe: reads change nothing, and every node gets the same bytes of a signed transaction, which
 * executes once.
 *
 * A failed node is skipped for a while. If there are several, the chain of each is checked before its first use and after
 * each failure: a node of another chain gets no calls. Without `options.chain`, the first node that responds decides which
 * chain it is. Once the chain is pinned, a reply of another chain fails its call, even if there is only one node. Replies
 * name their chain in a header. A node that does not do so is asked for its chain every few seconds.
 *
 * Nodes may lag behind each other. Callers already handle that, because providers balance one URL over many nodes: they
 * compare versions and retry.
 */
export function createFullnodes(options: FullnodesOptions): Fullnodes {
  const { clock } = options;
  const nodes = options.urls.map((url): Node => {
    const { host } = new URL(url);
    return { url: url.replace(/\/+$/, ""), host, failures: 0, skippedUntilMs: 0 };
  });
  const [first] = nodes;
  if (first === undefined) throw new Error("there is no fullnode");
  const base = first.url;
  // With one node, the check at the start decides, because its message about a wrong chain is better.
  const chain = createServedChain({ ...options, chain: nodes.length === 1 ? undefined : options.chain });
  const pinChain = chain.pin;
  let serving: Node | undefined;
  if (nodes.length === 1)
    return { fetch: (input, init) => send(first, input, init), pinChain, statuses: () => [] };

  return {
    pinChain,
    async fetch(input, init) {
      const route = (input instanceof Request ? input.url : String(input)).slice(base.length);
      const order = inOrder();
      let failure: unknown;
      for (const [at, node] of order.entries()) {
        // When concurrent calls fail together, only the first failure counts.
        const { skippedUntilMs } = node;
        const fail = (error: unknown) => {
          if (!init?.signal?.aborted && node.skippedUntilMs === skippedUntilMs) skip(node, error);
        };
        try {
          const response = await attempt({ node, route, init, isLast: at === order.length - 1, fail });
          // The start of a stream does not show that the node works.
          if (!isStream(route)) serve(node);
          return response;
        } catch (error) {
          if (init?.signal?.aborted) throw error;
          failure = error;
          fail(error);
        }
      }
      throw failure;
    },
    statuses: () =>
      nodes.map((node) => ({
        host: node.host,
        isServing: node === serving,
        isSkipped: node.skippedUntilMs > clock.now(),
        fault: node.fault,
      })),
  };

  /** Sends a call. Rejects if the reply is of another chain. */
  async function send(
    node: Node,
    input: string | URL | Request,
    init: RequestInit | undefined,
  ): Promise<Response> {
    const response = await options.send(input, init);
    try {
      await chain.checkReply(node, response, init?.signal);
      return response;
    } catch (error) {
      // Nothing may wait for a body that nobody reads.
      response.body?.cancel().catch(() => {});
      throw error;
    }
  }

  /** Returns the usable nodes in their order, then the skipped ones, those whose skip ends soonest first. */
  function inOrder(): Node[] {
    const now = clock.now();
    const isSkipped = ({ skippedUntilMs }: Node) => skippedUntilMs > now;
    const skipped = nodes.filter(isSkipped).sort((a, b) => a.skippedUntilMs - b.skippedUntilMs);
    return [...nodes.filter((node) => !isSkipped(node)), ...skipped];
  }

  async function attempt({ node, route, init, isLast, fail }: Attempt): Promise<Response> {
    // The last node has no limit but the caller's own.
    const deadline = isLast ? undefined : startDeadline(clock, timeFor(route));
    const signal = AbortSignal.any([init?.signal, deadline?.signal].filter((one) => one != null));
    try {
      await unlessAborted(chain.verify(node), signal);
      const response = await send(node, node.url + route, { ...init, signal });
      const { status, whole } = isStream(route)
        ? watchStream(response, fail)
        : await peekStatus(response, fail);
      if (!isLast && status !== undefined && NODE_STATUSES.has(status))
        throw new Error(`the fullnode ${node.host} answers with ${status}`);
      return whole;
    } catch (error) {
      if (deadline?.signal.aborted)
        throw new Error(`the fullnode ${node.host} does not answer in time`, { cause: error });
      throw error;
    } finally {
      deadline?.clear();
    }
  }

  function serve(node: Node): void {
    node.failures = 0;
    node.fault = undefined;
    if (serving === node) return;
    const isSwitch = serving !== undefined;
    serving = node;
    if (isSwitch) options.onSwitch?.(node.host);
  }

  function skip(node: Node, error: unknown): void {
    node.skippedUntilMs = clock.now() + Math.min(SKIP_MS * 2 ** node.failures, SKIP_MAX_MS);
    node.failures += 1;
    node.fault = error instanceof Error ? error.message : String(error);
    chain.forget(node);
  }
}

/** The fullnodes of a network. */
export interface Fullnodes {
  /** Accepts calls whose URL begins with that of the first node. */
  readonly fetch: typeof fetch;
  /** Sets the chain that replies must name, once its identifier has been checked. */
  readonly pinChain: (chainIdentifier: string) => void;
  /** Returns the status of each node, in order; empty if there is only one node. */
  readonly statuses: () => FullnodeStatus[];
}

/** The status of a fullnode. */
export interface FullnodeStatus {
  /** Without path and query, which may hold a key. */
  readonly host: string;
  /** Whether it answered the last call. */
  readonly isServing: boolean;
  /** Whether calls skip it unless all others fail. */
  readonly isSkipped: boolean;
  /** Its last failure; undefined once it has answered again. */
  readonly fault: string | undefined;
}

/** Options of {@link createFullnodes}. */
export interface FullnodesOptions {
  /** At least one, in the order in which they are tried. */
  readonly urls: readonly string[];
  /** The identifier of the network's chain, if it is known. */
  readonly chain: string | undefined;
  readonly send: typeof fetch;
  /** Asks a node for the identifier of its chain, within a time limit. */
  readonly chainOf: (url: string) => Promise<string>;
  readonly clock: Clock;
  /** Called with the host when calls move to another node. */
  readonly onSwitch?: ((host: string) => void) | undefined;
}

interface Attempt {
  readonly node: Node;
  readonly route: string;
  readonly init: RequestInit | undefined;
  readonly isLast: boolean;
  /** Reports a failure of the node, even after its reply has begun. */
  readonly fail: (error: unknown) => void;
}

interface Node {
  readonly url: string;
  readonly host: string;
  failures: number;
  skippedUntilMs: number;
  fault?: string | undefined;
}

/** How long a node is skipped after its first failure. Each further failure doubles it. */
const SKIP_MS = 1_000;
const SKIP_MAX_MS = 60_000;
/** The time limit for the beginning of a reply while another node is left to try. */
const READ_MS = 4_000;
/** Longer, because the node replies to an execution only when it is final. */
const EXECUTE_MS = 20_000;
/** The statuses of an overloaded or failing node: in HTTP, and DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, UNAVAILABLE. */
const NODE_STATUSES = new Set(["429", "500", "502", "503", "504", "grpc 4", "grpc 8", "grpc 14"]);

function timeFor(route: string): number {
  return route.endsWith("/ExecuteTransaction") ? EXECUTE_MS : READ_MS;
}

function isStream(route: string): boolean {
  return route.endsWith("/SubscribeCheckpoints");
}

/**
 * Reads the status of a unary gRPC-web response from its head or the start of its body, such as `429` for HTTP and
 * `grpc 14` for gRPC; undefined if the response has a message. Returns it with the whole response, whose body calls
 * `onBreak` if it breaks before its end.
 */
async function peekStatus(response: Response, onBreak: (error: unknown) => void): Promise<PeekedAnswer> {
  const status = statusInHead(response);
  if (status !== undefined || response.body === null) return { status, whole: response };
  const reader = response.body.getReader();
  const first = await reader.read();
  const begin = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    if (first.done) controller.close();
    else controller.enqueue(first.value);
  };
  return { status: statusOf(first.value), whole: withBody(response, passOn(reader, onBreak, begin)) };
}

/**
 * Reads the status of a gRPC-web response with an endless stream from its head. Returns it with the whole response,
 * whose body calls `onEnd` if it breaks or ends.
 */
function watchStream(response: Response, onEnd: (error: unknown) => void): PeekedAnswer {
  const status = statusInHead(response);
  if (status !== undefined || response.body === null) return { status, whole: response };
  const watched = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({ flush: () => onEnd(new Error("the stream ended")) }),
  );
  return { status: undefined, whole: withBody(response, passOn(watched.getReader(), onEnd)) };
}

/** A response whose status was read; undefined for none. */
interface PeekedAnswer {
  readonly status: string | undefined;
  readonly whole: Response;
}

/** Returns a stream that starts with the chunks of `begin` and continues with those of `reader`. */
function passOn(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  onBreak: (error: unknown) => void,
  begin?: (controller: ReadableStreamDefaultController<Uint8Array>) => void,
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    ...(begin && { start: begin }),
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        onBreak(error);
        throw error;
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

function withBody({ status, statusText, headers }: Response, body: ReadableStream<Uint8Array>): Response {
  return new Response(body, { status, statusText, headers });
}

function statusInHead({ ok, status, headers }: Response): string | undefined {
  if (!ok) return String(status);
  const inHead = headers.get("grpc-status");
  return inHead === null ? undefined : `grpc ${inHead}`;
}

/** The flag of a frame with trailers, which comes first only if there is no message. */
const TRAILERS = 0x80;
const HEADER_BYTES = 5;

function statusOf(chunk: Uint8Array | undefined): string | undefined {
  if (chunk === undefined || chunk[0] !== TRAILERS) return undefined;
  const [, code] = /grpc-status: ?(\d+)/i.exec(new TextDecoder().decode(chunk.subarray(HEADER_BYTES))) ?? [];
  return code && `grpc ${code}`;
}
