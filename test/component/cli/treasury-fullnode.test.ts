/** The Treasury's commands against a fullnode that lies or stops answering. */
import { GrpcTypes } from "@mysten/sui/grpc";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { toHex } from "@mysten/sui/utils";
import { afterAll, beforeAll, expect, it } from "vitest";
import { localnetHotWalletSecret } from "../../../src/localnet/seed.ts";
import { type Harness, hotWallet, startHarness } from "../localnet/harness.ts";
import { type Lie, startLyingFullnode } from "./lying-fullnode.ts";
import { shownAs, type TreasuryOperatorShell, treasuryOperator } from "./treasury-operator.ts";

const friend = new Ed25519Keypair().toSuiAddress();
const thief = new Ed25519Keypair().toSuiAddress();
let harness: Harness;
let shell: TreasuryOperatorShell;
let key: string;

beforeAll(async () => {
  harness = await startHarness();
  shell = treasuryOperator(harness.net.url);
  key = shell.keyFile(hotWallet, toHex(localnetHotWalletSecret()));
});
afterAll(async () => {
  await harness.close();
  shell.remove();
});

async function against(lie: Lie, ...words: readonly string[]) {
  const fullnode = await startLyingFullnode(harness.net.url, lie);
  try {
    return await shell.tss(...words, "--fullnode", fullnode.url, "--key-file", key, "--yes");
  } finally {
    fullnode.close();
  }
}

const coinsOf = async (owner: string) => (await harness.client.getBalance({ owner })).balance.balance;

it("a fullnode that asks for too much gas gets nothing, unless the operator sets the budget", async () => {
  const message = (bytes: Uint8Array): Uint8Array => {
    const reply = GrpcTypes.SimulateTransactionResponse.fromBinary(bytes);
    const gas = reply.transaction?.transaction?.gasPayment;
    if (gas !== undefined) gas.budget = 6_000_000_000n;
    return GrpcTypes.SimulateTransactionResponse.toBinary(reply);
  };
  const lie = { changes: { call: "SimulateTransaction", message } };
  const drain = ["drain", "--sui", "1", "--to", friend];
  const { exitCode, err } = await against(lie, ...drain);
  expect({ exitCode, err }).toMatchObject({ exitCode: 1, err: expect.stringContaining("more than 5 SUI") });
  expect(await coinsOf(friend)).toBe("0");
  const own = await against(lie, ...drain, "--gas-budget", "0.5", "--dry-run");
  expect(own.out).toContain("at most 0.500000000 SUI");
});

it("a transaction whose reply is lost is found by its digest, and counts as sent", async () => {
  const lie = { lost: "ExecuteTransaction", arrives: true };
  const { exitCode, out } = await against(lie, "drain", "--sui", "1", "--to", friend);
  expect(exitCode).toBe(0);
  expect(shownAs(out, "executed")).toMatch(/^\w{43,44}$/);
  expect(await coinsOf(friend)).toBe("1000000000");
});

it("a transaction that no fullnode confirms is named, so that nobody repeats it blindly", async () => {
  const { exitCode, err } = await against(
    { lost: "ExecuteTransaction" },
    "drain",
    "--sui",
    "1",
    "--to",
    thief,
  );
  expect(exitCode).toBe(1);
  expect(err).toMatch(
    /^sending the transaction (\w{43,44})\n.* did not confirm the transaction \1:.* repeat anything/,
  );
  expect(await coinsOf(thief)).toBe("0");
});

it("a fullnode that does not answer is unreachable, and its URL's key is not shown", async () => {
  const fullnode = ["--fullnode", "http://127.0.0.1:1/secret-key"];
  const { exitCode, err } = await shell.tss("status", ...fullnode);
  expect(exitCode).toBe(3);
  expect(err).toContain("the fullnode at 127.0.0.1:1 does not answer");
  expect(err).not.toContain("secret-key");
});

it("a gas budget limits the gas, and the error explains a budget that is too small", async () => {
  const drain = ["drain", "--sui", "1", "--to", friend, "--key-file", key, "--yes"];
  const out = await shell.done(...drain, "--gas-budget", "0.25");
  expect(out).toContain("at most 0.250000000 SUI (250000000)");
  expect(await shell.refused(...drain, "--gas-budget", "0.0001")).toContain("lower than min");
});
