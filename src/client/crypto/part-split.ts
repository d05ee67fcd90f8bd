import type { Steps } from "../../protocol/chain/read-errors.ts";
import type { Form } from "../../protocol/class-groups/forms.ts";
import type { Ciphertext } from "../../protocol/parameters/network-key-output.ts";

/** The parts of all ciphertexts that a thread computes, and its source of the others. */
export interface PartSplit {
  readonly parts: readonly Part[];
  /** Completes the ciphertext, given the parts that this thread computed. */
  join(own: readonly (Form | undefined)[]): Steps<Ciphertext>;
}

/** The index of a ciphertext's form, 0 or 1. The two forms are computed separately. */
export type Part = 0 | 1;

/** One thread computes both parts. */
export const BOTH_PARTS: PartSplit = {
  parts: [0, 1],
  *join(own) {
    yield;
    return wholeOf(own);
  },
};

/** A message between the two threads: a public form and its sequence number. */
interface PartMessage {
  readonly count: number;
  readonly form: Form;
}

/**
 * Creates the split for one of two threads that run the same computation on the same input. Each computes its part of
 * every ciphertext and sends it to the other thread, and both arrive at the same bytes. The forms are public. Each
 * thread checks its own forms in the finished bytes.
 */
export function splitWithPeer(part: Part, peer: MessagePort): PartSplit {
  const received: PartMessage[] = [];
  let wake = (): void => {};
  peer.onmessage = ({ data }: MessageEvent<PartMessage>) => {
    received.push(data);
    wake();
  };
  let count = 0;
  return {
    parts: [part],
    *join(own) {
      count++;
      const sent: PartMessage = { count, form: own[part]! };
      peer.postMessage(sent);
      while (received.length === 0) {
        yield new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      const other = received.shift();
      if (other?.count !== count) throw new Error("the other thread computes something else");
      return wholeOf(part === 0 ? [own[0], other.form] : [other.form, own[1]]);
    },
  };
}

function wholeOf([first, second]: readonly (Form | undefined)[]): Ciphertext {
  if (first === undefined || second === undefined) throw new Error("a ciphertext without one of its parts");
  return [first, second];
}
