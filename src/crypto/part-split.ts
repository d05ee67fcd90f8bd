import type { Form } from "../protocol/class-groups/forms.ts";
import type { Ciphertext } from "../protocol/parameters/network-key-output.ts";
import type { Steps } from "../protocol/steps.ts";

/** A ciphertext has two forms, which are computed apart. */
export type Part = 0 | 1;

/** Which parts of all ciphertexts a thread computes, and how it gets the others. */
export interface PartSplit {
  readonly parts: readonly Part[];
  /** The whole ciphertext, out of the parts that this thread computed. */
  join(own: readonly (Form | undefined)[]): Steps<Ciphertext>;
}

/** One thread computes both parts. */
export const BOTH_PARTS: PartSplit = {
  parts: [0, 1],
  *join(own) {
    yield;
    return wholeOf(own);
  },
};

/** What two threads tell each other: public forms, in order. */
interface PartMessage {
  readonly count: number;
  readonly form: Form;
}

/**
 * One of two threads that run the same computation on the same input. Each computes its part of every ciphertext and
 * sends it to the other one, and both come to the same octets. The forms are public. That the other thread's are right
 * is for it to check, on the finished octets, as this thread checks its own.
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
