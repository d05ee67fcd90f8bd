import { bcs } from "@mysten/sui/bcs";
import { GrpcTypes } from "@mysten/sui/grpc";
import { Transaction, type TransactionArgument } from "@mysten/sui/transactions";
import { normalizeStructTag } from "@mysten/sui/utils";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createUser, type Harness, hotWallet, startHarness } from "../harness.ts";

const me = hotWallet.toSuiAddress();
const SUI = "0x2::sui::SUI";
let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

/** Simulates a transaction. Returns the results of its last command, or its failure. */
async function attempt(build: (tx: Transaction) => void) {
  const tx = new Transaction();
  tx.setSender(me);
  build(tx);
  const result = await harness.client.simulateTransaction({
    transaction: tx,
    include: { commandResults: true },
  });
  if (result.$kind === "Transaction") {
    return { ok: result.commandResults.at(-1)?.returnValues.map((value) => value.bcs) ?? [] };
  }
  const { error } = result.FailedTransaction.status;
  if (error?.$kind === "CommandArgumentError") {
    return { argument: error.CommandArgumentError.argument, fault: error.CommandArgumentError.name };
  }
  if (error?.$kind === "MoveAbort") return { abort: error.MoveAbort.abortCode };
  return { message: error?.message };
}

const u64 = (tx: Transaction, value: number | bigint) => tx.pure.u64(value);
const coinCall = (tx: Transaction, name: string, args: TransactionArgument[]) =>
  tx.moveCall({ target: `0x2::coin::${name}`, typeArguments: [SUI], arguments: args });
const value = (returned: unknown): bigint => BigInt(bcs.u64().parse(returned as Uint8Array));

describe("a simulation", () => {
  const simulated = async (build: (tx: Transaction) => void) => {
    const tx = new Transaction();
    tx.setSender(me);
    build(tx);
    const include = { commandResults: true } as const;
    const { commandResults } = await harness.client.simulateTransaction({ transaction: tx, include });
    return commandResults ?? [];
  };
  const Coin = bcs.struct("Coin", { id: bcs.Address, balance: bcs.u64() });
  const balanceOf = (output: { readonly bcs: Uint8Array | null } | undefined) =>
    BigInt(Coin.parse(output!.bcs!).balance);

  test("shows what each command returned and changed at its end, also if a later command takes it", async () => {
    const [split, joined, valued, moved] = await simulated((tx) => {
      const [a, b] = tx.splitCoins(tx.gas, [100, 20]) as unknown as TransactionArgument[];
      coinCall(tx, "join", [a as never, b as never]);
      coinCall(tx, "value", [a as never]);
      tx.transferObjects([a as never], me);
    });
    expect(split!.returnValues.map(balanceOf)).toEqual([100n, 20n]);
    expect(split!.mutatedReferences).toHaveLength(1);
    expect(joined!.returnValues).toEqual([]);
    expect(joined!.mutatedReferences.map(balanceOf)).toEqual([120n]);
    expect(value(valued!.returnValues[0]!.bcs)).toBe(120n);
    expect([valued!.mutatedReferences, moved]).toEqual([[], { returnValues: [], mutatedReferences: [] }]);
  });

  test("names the argument behind each changed reference, with the type of its value", async () => {
    const tx = new Transaction();
    tx.setSender(me);
    const [a, b] = tx.splitCoins(tx.gas, [5, 6]) as unknown as TransactionArgument[];
    tx.mergeCoins(b as never, [a as never]);
    tx.transferObjects([b as never], me);
    const { response } = await harness.client.transactionExecutionService.simulateTransaction({
      transaction: { bcs: { value: await tx.build({ client: harness.client }) } },
      readMask: { paths: ["command_outputs"] },
    });
    const type = `${normalizeStructTag("0x2::coin::Coin<0x2::sui::SUI>")}`;
    const changed = response.commandOutputs.map(({ mutatedByRef }) =>
      mutatedByRef.map(({ argument, value: changedValue }) => ({ argument, type: changedValue!.name })),
    );
    const { Argument_ArgumentKind: kind } = GrpcTypes;
    expect(changed).toEqual([
      [{ argument: { kind: kind.GAS }, type }],
      [{ argument: { kind: kind.RESULT, result: 0, subresult: 1 }, type }],
      [],
    ]);
  });

  test("that fails shows no outputs", async () => {
    const outputs = await simulated((tx) => {
      const [a] = tx.splitCoins(tx.gas, [100]);
      tx.splitCoins(a as never, [101]);
    });
    expect(outputs).toEqual([]);
  });
});

describe("coins", () => {
  test("keep their sum when they are split, joined and merged", async () => {
    const result = await attempt((tx) => {
      const [a, b, c] = tx.splitCoins(tx.gas, [100, 20, 3]) as unknown as TransactionArgument[];
      tx.mergeCoins(a as never, [b as never]);
      coinCall(tx, "join", [a as never, c as never]);
      const rest = coinCall(tx, "split", [a as never, u64(tx, 23)]);
      tx.transferObjects([rest], me);
      tx.transferObjects([a as never], me);
      coinCall(tx, "value", [tx.gas]);
    });
    expect(result.ok).toHaveLength(1);
    const executed = await harness.run((tx) => {
      const [a] = tx.splitCoins(tx.gas, [100]);
      const part = coinCall(tx, "split", [a as never, u64(tx, 58)]);
      tx.transferObjects([a as never, part], `0x${"2".repeat(64)}`);
    });
    const received = executed.balanceChanges.find((change) => change.address === `0x${"2".repeat(64)}`);
    expect(received?.amount).toBe("100");
  });

  test("cannot be split beyond their balance", async () => {
    const split = await attempt((tx) => {
      const [coin] = tx.splitCoins(tx.gas, [5]);
      tx.transferObjects([...tx.splitCoins(coin as never, [6])], me);
      tx.transferObjects([coin as never], me);
    });
    expect(split.message).toContain("Insufficient coin balance");
    const call = await attempt((tx) => {
      const [coin] = tx.splitCoins(tx.gas, [5]);
      tx.transferObjects([coinCall(tx, "split", [coin as never, u64(tx, 6)]), coin as never], me);
    });
    expect(call.abort).toBe("2");
    const destroy = await attempt((tx) => {
      const [coin] = tx.splitCoins(tx.gas, [5]);
      coinCall(tx, "destroy_zero", [coin as never]);
    });
    expect(destroy.abort).toBe("0");
    expect((await attempt((tx) => coinCall(tx, "destroy_zero", [coinCall(tx, "zero", [])]))).ok).toEqual([]);
  });

  test("of different types do not merge", async () => {
    const [ika] = (await harness.client.listCoins({ owner: me, coinType: harness.net.ikaCoinType })).objects;
    const result = await attempt((tx) => tx.mergeCoins(tx.gas, [tx.object(ika?.objectId as string)]));
    expect(result).toEqual({ argument: 1, fault: "TypeMismatch" });
  });

  test("the gas coin can be borrowed by any command but taken only by TransferObjects", async () => {
    const joined = await attempt((tx) => {
      const [coin] = tx.splitCoins(tx.gas, [1]);
      coinCall(tx, "join", [coin as never, tx.gas]);
    });
    expect(joined).toEqual({ argument: 1, fault: "InvalidGasCoinUsage" });
    expect((await attempt((tx) => tx.makeMoveVec({ elements: [tx.gas] }))).fault).toBe("InvalidGasCoinUsage");
    const stranger = createUser().address;
    const executed = await harness.run((tx) => tx.transferObjects([tx.gas], stranger));
    const { balance } = await harness.client.getBalance({ owner: stranger });
    const gained = executed.balanceChanges.find((change) => change.address === stranger);
    expect(balance.balance).toBe(gained?.amount);
    await harness.net.fund(me);
  });
});

describe("values", () => {
  test("a value that was taken cannot be used again", async () => {
    const result = await attempt((tx) => {
      const [coin] = tx.splitCoins(tx.gas, [5]);
      tx.transferObjects([coin as never], me);
      coinCall(tx, "value", [coin as never]);
    });
    expect(result).toEqual({ argument: 0, fault: "InvalidValueUsage" });
  });

  test("a value cannot be borrowed mutably and used again in one command", async () => {
    const result = await attempt((tx) => {
      const [coin] = tx.splitCoins(tx.gas, [5]);
      coinCall(tx, "join", [coin as never, coin as never]);
    });
    expect(result).toEqual({ argument: 1, fault: "InvalidValueUsage" });
  });

  test("an object that no command takes fails the transaction, and the error names its place", async () => {
    const result = await attempt((tx) => tx.splitCoins(tx.gas, [1, 2]));
    expect(result.message).toContain(
      "Unused result without the drop ability. Command result 0, return value 0",
    );
  });

  test("results are addressed by their index and must exist", async () => {
    const nested = (tx: Transaction, index: number, subresult: number) =>
      tx.transferObjects([{ $kind: "NestedResult", NestedResult: [index, subresult] }], me);
    const beyond = await attempt((tx) => {
      tx.splitCoins(tx.gas, [1]);
      nested(tx, 0, 1);
    });
    expect(beyond.fault).toBe("SecondaryIndexOutOfBounds");
    const arity = await attempt((tx) => {
      tx.splitCoins(tx.gas, [1, 2]);
      tx.transferObjects([{ $kind: "Result", Result: 0 }], me);
    });
    expect(arity.fault).toBe("InvalidResultArity");
  });

  test("pure bytes are refused unless they are the canonical form of the type", async () => {
    const split = (bytes: Uint8Array) =>
      attempt((tx) => {
        const part = coinCall(tx, "split", [tx.gas, tx.pure(bytes)]);
        tx.transferObjects([part], me);
      });
    expect((await split(bcs.u64().serialize(1).toBytes())).ok).toEqual([]);
    expect(await split(new Uint8Array(7))).toEqual({ argument: 1, fault: "InvalidBcsBytes" });
    expect(await split(new Uint8Array(9))).toEqual({ argument: 1, fault: "InvalidBcsBytes" });
    const register = (bytes: Uint8Array) =>
      attempt((tx) => {
        tx.moveCall({
          target: `${harness.config.packages.ikaDwallet2pcMpcPackage}::coordinator::register_session_identifier`,
          arguments: [harness.coordinator(tx), tx.pure(bytes)],
        });
      });
    expect((await register(Uint8Array.of(0x80, 0x00))).fault).toBe("InvalidBcsBytes");
    expect((await register(Uint8Array.of(5, 1, 2))).fault).toBe("InvalidBcsBytes");
  });

  test("a read-only shared object cannot be changed, and no shared object can be taken", async () => {
    const { treasuryId, packageId, adminCapId } = harness.net.treasury;
    const pause = await attempt((tx) =>
      tx.moveCall({
        target: `${packageId}::treasury::set_paused`,
        arguments: [
          tx.sharedObjectRef({ objectId: treasuryId, initialSharedVersion: 1, mutable: false }),
          tx.object(adminCapId),
          tx.pure.bool(true),
        ],
      }),
    );
    expect(pause).toEqual({ argument: 0, fault: "InvalidObjectByMutRef" });
    const taken = await attempt((tx) => tx.transferObjects([harness.treasury(tx)], me));
    expect(taken.fault).toBe("InvalidObjectByValue");
  });

  test("vectors of plain values are built from their elements", async () => {
    const presigns = (elements: (tx: Transaction) => TransactionArgument[]) =>
      attempt((tx) => {
        const sessions = tx.makeMoveVec({ type: "vector<u8>", elements: elements(tx) });
        const { networkEncryptionKeyId } = harness.net;
        harness.treasuryCall(tx, "pay_presigns", [
          harness.coordinator(tx),
          tx.pure.id(networkEncryptionKeyId),
          tx.pure.u32(0),
          tx.pure.u32(0),
          sessions,
        ]);
      });
    const session = (fill: number) => bcs.byteVector().serialize(new Uint8Array(32).fill(fill)).toBytes();
    const built = await presigns((tx) => [tx.pure(session(1)), tx.pure(session(2))]);
    expect(bcs.vector(bcs.Address).parse(built.ok?.[0] as Uint8Array)).toHaveLength(2);
    expect((await presigns((tx) => [tx.pure(session(1)), tx.pure(session(1))])).abort).toBe("3");
    expect((await presigns((tx) => [tx.gas])).fault).toBe("InvalidGasCoinUsage");
  });
});

describe("functions", () => {
  test("unknown functions and wrong arities fail with their own kinds", async () => {
    const call = (target: string, typeArguments: string[], count: number) =>
      attempt((tx) =>
        tx.moveCall({ target, typeArguments, arguments: Array.from({ length: count }, () => tx.gas) }),
      );
    expect((await call("0x2::coin::nothing", [], 0)).message).toContain(
      `Function Not Found. This node has no 0x${"2".padStart(64, "0")}::coin::nothing`,
    );
    expect((await call("0x2::coin::value", [SUI], 2)).message).toContain("Arity mismatch");
    expect((await call("0x2::coin::value", [], 1)).message).toContain("Type arity mismatch");
    await expect(call("0x2::coin::value", ["not a type"], 1)).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
    expect((await call("0x2::coin::value", ["0x9::other::COIN"], 1)).fault).toBe("TypeMismatch");
  });

  test("a function's description says how it takes each argument", async () => {
    const { function: described } = await harness.client.getMoveFunction({
      packageId: harness.net.treasury.packageId,
      moduleName: "treasury",
      name: "pay_presigns",
    });
    expect(described.parameters.map((parameter) => parameter.reference)).toEqual([
      "mutable",
      "immutable",
      "mutable",
      null,
      null,
      null,
      null,
    ]);
    expect(described.parameters[6]?.body).toEqual({
      $kind: "vector",
      vector: { $kind: "vector", vector: { $kind: "u8" } },
    });
    const missing = harness.client.getMoveFunction({ packageId: "0x2", moduleName: "coin", name: "nothing" });
    await expect(missing).rejects.toThrow("not found");
  });

  test("the value of a coin is its deposited amount", async () => {
    const result = await attempt((tx) => {
      const [coin] = tx.splitCoins(tx.gas, [77]);
      tx.transferObjects([coin as never], me);
      const [other] = tx.splitCoins(tx.gas, [78]);
      tx.moveCall({
        target: "0x2::transfer::public_transfer",
        typeArguments: [`0x2::coin::Coin<${SUI}>`],
        arguments: [other as never, tx.pure.address(me)],
      });
      const [third] = tx.splitCoins(tx.gas, [79]);
      coinCall(tx, "join", [tx.gas, third as never]);
      const zero = coinCall(tx, "zero", []);
      tx.transferObjects([zero], me);
      const [fourth] = tx.splitCoins(tx.gas, [80]);
      tx.mergeCoins(tx.gas, [fourth as never]);
      coinCall(tx, "value", [tx.gas]);
    });
    expect(value(result.ok?.[0])).toBeGreaterThan(0n);
  });
});

test("the log names a missing function once", async () => {
  const lines: unknown[] = [];
  const net = await startHarness({ log: (text, fields) => void lines.push([text, fields]) });
  try {
    const call = (tx: Transaction) => tx.moveCall({ target: "0x2::coin::nothing", arguments: [] });
    for (let attempts = 0; attempts < 2; attempts++) {
      await expect(net.run((tx) => void call(tx))).rejects.toThrow("coin::nothing");
    }
    const missing = `0x${"2".padStart(64, "0")}::coin::nothing`;
    expect(lines).toEqual([["function not found", { function: missing }]]);
  } finally {
    await net.close();
  }
});
