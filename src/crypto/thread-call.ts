import { equalBytes } from "../protocol/bytes.ts";
import { isEcdsa } from "../protocol/signature-forms.ts";
import { EngineError } from "./engine.ts";
import { buffersOf } from "./engine-messages.ts";
import type { PlainEngine } from "./engine-over.ts";
import type { Part } from "./part-split.ts";
import { type InputOf, type Method, type OutputOf, wipeOutput, wipeSecrets } from "./plain-data.ts";
import type { ThreadAnswer, ThreadSlot } from "./thread-slot.ts";

/** Creates a call with the promise of its output. */
export function createThreadCall<M extends Method>(
  method: M,
  input: InputOf<M>,
): ThreadCall & { readonly output: Promise<OutputOf<M>> } {
  let resolve: (output: OutputOf<M>) => void;
  let reject: (cause: unknown) => void;
  const output = new Promise<OutputOf<M>>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  let isBegun = false;
  let isOver = false;
  let running: readonly ThreadSlot[] = [];
  const here = new AbortController();
  const outputs: OutputOf<Method>[] = [];

  function fail(cause: unknown): void {
    if (isOver) return;
    isOver = true;
    // After the transfer the worker owns the input and overwrites it.
    if (!isBegun) wipeSecrets(input);
    for (const found of outputs) wipeOutput(found);
    for (const slot of running) slot.cancel();
    here.abort(cause);
    reject(cause);
  }

  function onAnswer(answer: ThreadAnswer): void {
    if ("failure" in answer) {
      fail(answer.failure);
    } else if (isOver) {
      // The call was aborted while the output was in transit.
      wipeOutput(answer.output);
    } else {
      outputs.push(answer.output);
      if (outputs.length === running.length) finish();
    }
  }

  function finish(): void {
    if (!areEqual(outputs)) {
      fail(new EngineError("sign message: two workers computed different halves; nothing was sent"));
      return;
    }
    isOver = true;
    // The worker ran this method, so the output has its type.
    resolve(outputs[0] as OutputOf<M>);
  }

  return {
    output,
    isShareable: "triple" in input && isEcdsa(input.triple.signatureAlgorithm),
    runOn(slots) {
      isBegun = true;
      running = slots;
      const { port1, port2 } = new MessageChannel();
      const inputs = [input, ...(slots.length > 1 ? [copyOf(input)] : [])];
      for (const [index, slot] of slots.entries()) {
        const own = inputs[index]!;
        const call = { kind: "call", id: ++lastId, method, input: own } as const;
        const port = index === 0 ? port1 : port2;
        try {
          if (slots.length === 1) slot.run(call, buffersOf(own), onAnswer);
          else
            slot.run({ ...call, peer: { part: index as Part, port } }, [...buffersOf(own), port], onAnswer);
        } catch (cause) {
          for (const left of inputs.slice(index)) wipeSecrets(left);
          fail(new EngineError("the call could not be sent to a worker", { cause }));
          break;
        }
      }
      if (slots.length === 1) port1.close();
    },
    runWith(engine) {
      isBegun = true;
      engine.run(method, input, here.signal).then(resolve, reject);
    },
    fail,
  };
}

/** A call that waits for a worker or runs on one or two. */
export interface ThreadCall {
  /** True if two workers can share the call. */
  readonly isShareable: boolean;
  /** Runs the call on one worker or on two. */
  runOn(slots: readonly ThreadSlot[]): void;
  /** Runs the call on another engine, if there are no workers. */
  runWith(engine: PlainEngine): void;
  /** Fails the call, whether it waits or runs. */
  fail(cause: unknown): void;
}

let lastId = 0;

/** Returns whether two workers that share a half returned the same whole half. */
function areEqual([first, second]: readonly OutputOf<Method>[]): boolean {
  if (second === undefined) return true;
  return first instanceof Uint8Array && second instanceof Uint8Array && equalBytes(first, second);
}

function copyOf<Input extends object>(input: Input): Input {
  const entries = Object.entries(input) as [string, unknown][];
  return Object.fromEntries(
    entries.map(([name, value]) => [name, value instanceof Uint8Array ? Uint8Array.from(value) : value]),
  ) as Input;
}
