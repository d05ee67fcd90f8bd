/** Two threads that share the parts of each ciphertext. */
import { afterEach, expect, it } from "vitest";
import { runYielding } from "../../../../src/client/crypto/engines/plain-calls.ts";
import { BOTH_PARTS, type PartSplit, splitWithPeer } from "../../../../src/client/crypto/part-split.ts";
import { runSteps } from "../../../../src/protocol/chain/read-errors.ts";
import type { Form } from "../../../../src/protocol/class-groups/forms.ts";

const form = (number: number): Form => ({ a: BigInt(number), b: 1n, c: 1n }) as unknown as Form;
const channels: MessageChannel[] = [];
afterEach(() => {
  for (const { port1, port2 } of channels.splice(0)) {
    port1.close();
    port2.close();
  }
});

function pair(): [PartSplit, PartSplit] {
  const channel = new MessageChannel();
  channels.push(channel);
  return [splitWithPeer(0, channel.port1), splitWithPeer(1, channel.port2)];
}
const join = (split: PartSplit, ...own: (Form | undefined)[]) => runYielding(split.join(own));

it("one thread alone joins its own two parts", () => {
  expect(runSteps(BOTH_PARTS.join([form(1), form(2)]))).toEqual([form(1), form(2)]);
  expect(BOTH_PARTS.parts).toEqual([0, 1]);
  expect(() => runSteps(BOTH_PARTS.join([form(1), undefined]))).toThrow("without one of its parts");
});

it("two threads get the same ciphertexts, each from its own part and the other one's", async () => {
  const [first, second] = pair();
  expect([first.parts, second.parts]).toEqual([[0], [1]]);
  for (const number of [1, 3]) {
    const joined = await Promise.all([
      join(first, form(number), undefined),
      join(second, undefined, form(number + 1)),
    ]);
    expect(joined).toEqual(Array(2).fill([form(number), form(number + 1)]));
  }
});

it("a thread that is ahead waits for the other one", async () => {
  const [first, second] = pair();
  const ahead = (async () => [
    await join(first, form(1), undefined),
    await join(first, form(3), undefined),
  ])();
  expect(await join(second, undefined, form(2))).toEqual([form(1), form(2)]);
  expect(await join(second, undefined, form(4))).toEqual([form(3), form(4)]);
  expect(await ahead).toEqual([
    [form(1), form(2)],
    [form(3), form(4)],
  ]);
});

it("a thread that computes something else is noticed", async () => {
  const [first] = pair();
  const { port2 } = channels[0]!;
  port2.postMessage({ count: 2, form: form(2) });
  await expect(join(first, form(1), undefined)).rejects.toThrow("computes something else");
});
