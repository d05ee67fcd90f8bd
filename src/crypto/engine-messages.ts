import type { Part } from "./part-split.ts";
import type { InputOf, Method, OutputOf } from "./plain-data.ts";

/** What an engine tells its worker. */
export type ToWorker =
  | CallMessage
  /** Ends a call, which is answered all the same. */
  | { readonly kind: "cancel"; readonly id: number }
  /** Ends all calls; the worker answers once it holds nothing any more. */
  | { readonly kind: "close" };

/** One call. The input's buffers are transferred with it. */
export interface CallMessage<M extends Method = Method> {
  readonly kind: "call";
  readonly id: number;
  readonly method: M;
  readonly input: InputOf<M>;
  /** Where two workers share the call: this worker's part, and the way to the other one. */
  readonly peer?: { readonly part: Part; readonly port: MessagePort };
}

/** What a worker tells its engine. Each call is answered once. */
export type FromWorker =
  /** The first message: the worker takes calls. */
  | { readonly kind: "ready" }
  /** The output's buffers are transferred with it. */
  | { readonly kind: "result"; readonly id: number; readonly output: OutputOf<Method> }
  /** The protocol refused the input. */
  | { readonly kind: "refused"; readonly id: number; readonly reason: string }
  /** Something else: a fault of ours, or the call was cancelled. */
  | { readonly kind: "failed"; readonly id: number; readonly reason: string }
  | { readonly kind: "closed" };

/** The buffers of all byte strings in plain data, each of which has one of its own. */
export function buffersOf(data: object | boolean): ArrayBuffer[] {
  const values: unknown[] = data instanceof Uint8Array ? [data] : Object.values(data);
  return values.flatMap((value) =>
    value instanceof Uint8Array && value.buffer instanceof ArrayBuffer ? [value.buffer] : [],
  );
}
