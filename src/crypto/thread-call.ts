import { equalBytes } from "../protocol/bytes.ts";
import { isEcdsa } from "../protocol/signature-forms.ts";
import { EngineError } from "./engine.ts";
import { buffersOf } from "./engine-messages.ts";
import type { PlainEngine } from "./engine-over.ts";
import type { Part } from "./part-split.ts";
import { type InputOf, type Method, type OutputOf, wipeOutput, wipeSecrets } from "./plain-data.ts";
import type { ThreadAnswer, ThreadSlot } from "./thread-slot.ts";

/** A call that waits for a worker, or is at one or two. */
export interface ThreadCall {
  /** Two workers may share it. */
  readonly isShareable: boolean;
  /** Runs it on one worker, or on two. */
  runOn(slots: readonly ThreadSlot[]): void;
  /** Runs it where there are no workers. */
  runWith(engine: PlainEngine): void;
  /** Ends it with an error, wherever it is. */
  fail(cause: unknown): void;
}

let lastId = 0;

/** A call with the promise of its output. */
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
    // What was transferred is the worker's to overwrite.
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
      // It was aborted when the output was on its way.
      wipeOutput(answer.output);
    } else {
      outputs.push(answer.output);
      if (outputs.length === running.length) finish();
    }
  }

  function finish(): void {
    if (!areEqual(outputs)) {
      fail(new EngineError("sign message: two workers made different halves; nothing was sent"));
      return;
    }
    isOver = true;
    // The worker was asked for this method's output.
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

/** Two workers that share a half both make the whole of it. */
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
