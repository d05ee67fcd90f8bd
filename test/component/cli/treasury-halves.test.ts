/** What the chain keeps of held halves: `tss treasury halves` lists it without a database. */
import { bcs } from "@mysten/sui/bcs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { activeDwallet, type Harness, readyPresigns, startHarness } from "../localnet/harness.ts";
import { type TreasuryOperatorShell, treasuryOperator } from "./treasury-operator.ts";

let harness: Harness;
let shell: TreasuryOperatorShell;

beforeAll(async () => {
  harness = await startHarness();
  shell = treasuryOperator(harness.net.url);
});
afterAll(async () => {
  await harness.close();
  shell.remove();
});

it("the halves of all dWallets, or of one, are listed until their last epoch has passed", async () => {
  const [first, second] = [await activeDwallet(harness), await activeDwallet(harness)];
  const presigns = await readyPresigns(harness, { count: 2 });
  await keepHalf(first.dwalletId, presigns[0]!, 1);
  await keepHalf(second.dwalletId, presigns[1]!, 2);
  expect((await listed()).map(({ presignId }) => presignId).sort()).toEqual([...presigns].sort());
  const [half] = await listed("--dwallet", second.dwalletId);
  expect(half).toMatchObject({ dwalletId: second.dwalletId, presignId: presigns[1] });
  expect(await shell.done("halves")).toContain(first.dwalletId);
  for (let epoch = 0; epoch < 2; epoch++) await harness.net.controls.advanceEpoch();
  expect(await listed()).toEqual([half]);
  await harness.net.controls.advanceEpoch();
  expect(await listed()).toEqual([]);
});

async function listed(...words: string[]) {
  return JSON.parse(await shell.done("halves", "--json", ...words)) as {
    readonly dwalletId: string;
    readonly presignId: string;
    readonly lastEpoch: string;
  }[];
}

/** Lets the Treasury pay for a half of a message, and keep it. */
async function keepHalf(dwalletId: string, presignId: string, epochs: number): Promise<void> {
  const bytes = (value: Uint8Array) => bcs.byteVector().serialize(value);
  await harness.run((tx) =>
    harness.treasuryCall(tx, "pay_future_sign", [
      harness.coordinator(tx),
      tx.pure.id(dwalletId),
      tx.pure.id(presignId),
      tx.pure.u32(0),
      tx.pure.u32(0),
      tx.pure.u32(0),
      tx.pure(bytes(new TextEncoder().encode("a message"))),
      tx.pure(bytes(new Uint8Array(7144))),
      tx.pure.u64(epochs),
      tx.pure(bytes(crypto.getRandomValues(new Uint8Array(32)))),
      tx.pure(bytes(new Uint8Array(16))),
    ]),
  );
}
