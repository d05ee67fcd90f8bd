import type { IncomingHttpHeaders } from "node:http";
import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { Code, ConnectError, type ContextValues, type HandlerContext } from "@connectrpc/connect";
import type { Call } from "./call.ts";
import { CallEnding } from "./ending.ts";
import { LazyHeaders } from "./lazy-headers.ts";

/**
 * The context of one call on the transport's own path. It creates rarely used parts (web headers, the abort signal) on
 * demand. A call ends once: by {@link CallContext.abort} with a reason, or by {@link CallContext.finish}.
 */
export class CallContext implements HandlerContext {
  readonly method: DescMethod;
  readonly call: Call;
  readonly #head: CallHead;
  readonly #deadline: number | undefined;
  readonly #timer: NodeJS.Timeout | undefined;
  #requestHeader: LazyHeaders | undefined;
  #responseHeader: LazyHeaders | undefined;
  #responseTrailer: LazyHeaders | undefined;
  #controller: AbortController | undefined;
  #ending: CallEnding | undefined;
  #reason: Error | undefined;
  #rejectWork: ((reason: Error) => void) | undefined;
  #endsWhenClosing = false;
  /** Notified once, when the call ends. */
  worker: { leave(): void } | undefined;

  /**
   * @param timeoutMs the time to the deadline; undefined for none
   */
  constructor(method: DescMethod, call: Call, head: CallHead, timeoutMs: number | undefined) {
    this.method = method;
    this.call = call;
    call.context = this;
    call.method = `${method.parent.typeName}/${method.name}`;
    call.protocol = head.protocolName;
    this.#head = head;
    if (timeoutMs === undefined) return;
    this.#deadline = Date.now() + timeoutMs;
    if (timeoutMs <= 0) abortLate(this);
    else this.#timer = setTimeout(abortLate, timeoutMs, this);
  }

  get service(): DescService {
    return this.method.parent;
  }

  get protocolName(): string {
    return this.#head.protocolName;
  }

  get requestMethod(): string {
    return this.#head.requestMethod;
  }

  get url(): string {
    const { headers, target } = this.#head;
    return `http://${String(headers[":authority"] ?? headers.host ?? "localhost")}${target}`;
  }

  get values(): ContextValues {
    return this.call.values;
  }

  get requestHeader(): Headers {
    this.#requestHeader ??= new LazyHeaders(this.#head.headers);
    return this.#requestHeader;
  }

  get responseHeader(): Headers {
    this.#responseHeader ??= new LazyHeaders();
    return this.#responseHeader;
  }

  get responseTrailer(): Headers {
    this.#responseTrailer ??= new LazyHeaders();
    return this.#responseTrailer;
  }

  /** The response headers if any were set, so that a reply without any costs nothing. */
  get setHeaders(): Headers | undefined {
    return this.#responseHeader?.isUntouched === false ? this.#responseHeader : undefined;
  }

  /** The response trailers if any were set. */
  get setTrailers(): Headers | undefined {
    return this.#responseTrailer?.isUntouched === false ? this.#responseTrailer : undefined;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    return this.#controller.signal;
  }

  /** Ends with the call, like the signal, at a fraction of its cost. */
  get ending(): CallEnding {
    this.#ending ??= new CallEnding();
    if (this.#reason !== undefined) this.#ending.abort(this.#reason);
    return this.#ending;
  }

  /** Releases the response headers, which are already written. */
  forgetHead(): void {
    this.#responseHeader?.forget();
  }

  timeoutMs(): number | undefined {
    return this.#deadline === undefined ? undefined : this.#deadline - Date.now();
  }

  /** Returns the time limit for receiving a body; undefined when the deadline comes sooner. */
  bodyTimeoutMs(limitMs: number): number | undefined {
    return (this.timeoutMs() ?? Number.POSITIVE_INFINITY) > limitMs ? limitMs : undefined;
  }

  /** Ends the call early: pending waits reject with the reason, and the signal fires. Later calls have no effect. */
  abort(reason: Error): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    clearTimeout(this.#timer);
    this.#rejectWork?.(reason);
    this.#controller?.abort(reason);
    this.#ending?.abort(reason);
    this.worker?.leave();
  }

  /** Throws the reason if the call has already ended, such as one whose time was over when it arrived. */
  throwIfEnded(): void {
    if (this.#reason !== undefined) throw this.#reason;
  }

  /** Makes {@link CallContext.close} end the call. */
  endWhenClosing(closing: AbortSignal): void {
    this.#endsWhenClosing = true;
    if (closing.aborted) this.abort(closing.reason as Error);
  }

  /** Ends the call early if {@link CallContext.endWhenClosing} was called, else does nothing. */
  close(reason: Error): void {
    if (this.#endsWhenClosing) this.abort(reason);
  }

  /** Ends a running call because its caller has left. */
  abandon(): void {
    if (this.#reason === undefined) this.abort(new ConnectError("the caller is gone", Code.Canceled));
  }

  /** Ends the call after its reply. Its signal fires, so that listeners can stop. */
  finish(): void {
    this.abort(FINISHED);
  }

  /** Resolves with the work's result, or rejects with the reason of an earlier abort. Only one wait at a time. */
  untilAborted<T>(work: Promise<T>): Promise<T> {
    return this.interruptible((resolve, reject) => {
      work.then(resolve, reject);
    });
  }

  /** Creates a promise that an abort rejects with its reason, unless it has settled. Only one at a time. */
  interruptible<T>(
    start: (resolve: (value: T) => void, reject: (reason: unknown) => void) => void,
  ): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#rejectWork = reject;
      if (this.#reason !== undefined) reject(this.#reason);
      start(resolve, reject);
    });
  }
}

/** The head of a request as received. */
export interface CallHead {
  readonly protocolName: string;
  readonly requestMethod: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
}

const FINISHED = new ConnectError("the call has ended", Code.Canceled);

function abortLate(context: CallContext): void {
  context.abort(new ConnectError("the operation timed out", Code.DeadlineExceeded));
}
