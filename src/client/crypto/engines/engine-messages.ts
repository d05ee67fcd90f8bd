import type { Part } from "../part-split.ts";
import type { InputOf, Method, OutputOf } from "../plain-data.ts";

/** Returns the buffers of all byte strings in plain data. Each byte string must have its own buffer. */
export function buffersOf(data: object | boolean): ArrayBuffer[] {
  const values: unknown[] = data instanceof Uint8Array ? [data] : Object.values(data);
  return values.flatMap((value) =>
    value instanceof Uint8Array && value.buffer instanceof ArrayBuffer ? [value.buffer] : [],
  );
}

/** A message from an engine to its worker. */
export type ToWorker =
  | CallMessage
  /** Aborts a call. The worker still answers it. */
  | { readonly kind: "cancel"; readonly id: number }
  /** Aborts all calls. The worker answers after it has overwritten everything. */
  | { readonly kind: "close" };

/** One call. The message transfers the buffers of its input. */
export interface CallMessage<M extends Method = Method> {
  readonly kind: "call";
  readonly id: number;
  readonly method: M;
  readonly input: InputOf<M>;
  /** This worker's part and the port to the other worker, if two workers share the call. */
  readonly peer?: { readonly part: Part; readonly port: MessagePort };
}

/** A message from a worker to its engine. The worker answers each call once. */
export type FromWorker =
  /** The first message: the worker accepts calls. */
  | { readonly kind: "ready" }
  /** The message transfers the buffers of the output. */
  | { readonly kind: "result"; readonly id: number; readonly output: OutputOf<Method> }
  | { readonly kind: "refused"; readonly id: number; readonly reason: string }
  /** Another failure: a bug in this code, or the call was cancelled. */
  | { readonly kind: "failed"; readonly id: number; readonly reason: string }
  | { readonly kind: "closed" };
