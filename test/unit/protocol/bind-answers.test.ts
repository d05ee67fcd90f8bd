/** Which answers of a fullnode belong to which request. */
import type { RpcTransport } from "@mysten/sui/grpc";
import { Transaction, TransactionDataBuilder } from "@mysten/sui/transactions";
import { deriveDynamicFieldID } from "@mysten/sui/utils";
import { describe, expect, it } from "vitest";
import { bindAnswers } from "../../../src/protocol/chain/bind-answers.ts";
import type { MixedUpAnswerError } from "../../../src/protocol/chain/read-errors.ts";

const id = (digit: string): string => `0x${digit.repeat(64)}`;
const [ONE, TWO] = [id("1"), id("2")];
const SUI = "0x2::sui::SUI";
const COIN = `0x2::coin::Coin<${SUI}>`;

/** Asks a fullnode that gives this answer. Returns what the caller gets and what is reported. */
async function ask(method: string, question: object, answer: object) {
  const reported: MixedUpAnswerError[] = [];
  const call = { response: Promise.resolve(answer) };
  const transport = bindAnswers({ unary: () => call } as unknown as RpcTransport, (one) =>
    reported.push(one),
  );
  const { response } = transport.unary({ name: method } as never, question, {});
  const end = await response.then(
    () => "accepted",
    (error: MixedUpAnswerError) => error.read,
  );
  return { end, reported: reported.map(({ read }) => read) };
}

const accepted = { end: "accepted", reported: [] };
const refused = (read: string) => ({ end: read, reported: [read] });
const bytesOf = (objectId: string) => Uint8Array.from([...Buffer.from(objectId.slice(2), "hex"), 7]);
const object = (objectId: string, contentId = objectId, more: object = {}) => ({
  ...{
    objectId,
    contents: { value: bytesOf(contentId) },
    owner: { address: ONE },
    objectType: COIN,
    ...more,
  },
});

describe("an object", () => {
  it("has the requested id, in the answer and in its contents", async () => {
    const get = (found: object | undefined) => ask("GetObject", { objectId: ONE }, { object: found });
    expect(await get(object(ONE))).toEqual(accepted);
    expect(await get({ objectId: ONE })).toEqual(accepted);
    expect(await get(object(TWO))).toEqual(refused("object"));
    expect(await get(object(TWO, ONE))).toEqual(refused("object"));
    expect(await get(object(ONE, TWO))).toEqual(refused("object"));
    expect(await get(undefined)).toEqual(refused("object"));
  });

  it("has the same id in a short form", async () => {
    const zeros = `0x${"0".repeat(63)}6`;
    expect(await ask("GetObject", { objectId: "0x6" }, { object: object(zeros) })).toEqual(accepted);
  });

  it("that is another one becomes an unreadable one of its batch, and the others stay", async () => {
    const answer = {
      objects: [ONE, ONE].map((one) => ({ result: { oneofKind: "object", object: object(one) } })),
    };
    const requests = [{ objectId: ONE }, { objectId: TWO }];
    expect(await ask("BatchGetObjects", { requests }, answer)).toEqual({
      ...{ end: "accepted", reported: ["object"] },
    });
    const DATA_LOSS = 15;
    expect(answer.objects).toMatchObject([
      { result: { oneofKind: "object", object: { objectId: ONE } } },
      { result: { oneofKind: "error", error: { code: DATA_LOSS } } },
    ]);
    expect(await ask("BatchGetObjects", { requests }, { objects: [] })).toEqual(refused("object"));
    const errors = { objects: requests.map(() => ({ result: { oneofKind: "error", error: { code: 5 } } })) };
    expect(await ask("BatchGetObjects", { requests }, errors)).toEqual(accepted);
  });
});

describe("a listing", () => {
  const list = (objectType: string | undefined, ...objects: object[]) =>
    ask("ListOwnedObjects", { owner: ONE, ...(objectType && { objectType }) }, { objects });

  it("has objects of the owner alone", async () => {
    expect(await list(undefined, object(TWO), object(ONE))).toEqual(accepted);
    const foreign = object(TWO, TWO, { owner: { address: TWO } });
    expect(await list(undefined, object(ONE), foreign)).toEqual(refused("owner"));
    expect(await list(undefined, object(ONE, ONE, { owner: undefined }))).toEqual(refused("owner"));
    expect(await list(undefined, object(ONE, TWO))).toEqual(refused("object"));
  });

  it("has objects of the requested type alone, with any parameters if it names none", async () => {
    const long = COIN.replaceAll("0x2", `0x${"0".repeat(63)}2`);
    for (const type of [COIN, long, "0x2::coin::Coin"])
      expect(await list(type, object(TWO), object(TWO, TWO, { objectType: long }))).toEqual(accepted);
    for (const type of ["0x2::coin::Coin<0x2::a::B>", "0x2::coin::CoinMetadata", "0x2::coin::Coi"])
      expect(await list(type, object(TWO))).toEqual(refused("owner"));
    expect(await list(COIN, object(TWO, TWO, { objectType: undefined }))).toEqual(refused("owner"));
  });

  it("has fields of the table alone", async () => {
    const name = { name: "u64", value: Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0) };
    const fieldId = deriveDynamicFieldID(ONE, "u64", name.value);
    const wrapped = deriveDynamicFieldID(ONE, "0x2::dynamic_object_field::Wrapper<u64>", name.value);
    const list = (...dynamicFields: object[]) => ask("ListDynamicFields", { parent: ONE }, { dynamicFields });
    expect(await list({ kind: 1, name, fieldId }, { kind: 2, name, fieldId: wrapped })).toEqual(accepted);
    for (const other of [
      ...[
        { kind: 1, name, fieldId: wrapped },
        { kind: 2, name, fieldId },
        { kind: 1, fieldId },
      ],
      { kind: 1, name: { ...name, value: name.value.toReversed() }, fieldId },
      { kind: 1, name: { name: "u64" }, fieldId },
    ])
      expect(await list(other)).toEqual(refused("field"));
  });
});

it("a coin's metadata is of the requested coin, in any spelling", async () => {
  const get = (coinType: string | undefined) => ask("GetCoinInfo", { coinType: SUI }, { coinType });
  expect(await get(SUI.replace("0x2", `0x${"0".repeat(63)}2`))).toEqual(accepted);
  expect(await get("0x3::sui::SUI")).toEqual(refused("coin"));
  expect(await get(undefined)).toEqual(refused("coin"));
});

it("a checkpoint has the requested number, and the newest has any", async () => {
  const numbered = { checkpointId: { oneofKind: "sequenceNumber", sequenceNumber: 7n } };
  const get = (question: object, sequenceNumber: bigint) =>
    ask("GetCheckpoint", question, { checkpoint: { sequenceNumber } });
  expect(await get(numbered, 7n)).toEqual(accepted);
  expect(await get(numbered, 8n)).toEqual(refused("checkpoint"));
  expect(await ask("GetCheckpoint", numbered, {})).toEqual(refused("checkpoint"));
  expect(await get({ checkpointId: { oneofKind: undefined } }, 8n)).toEqual(accepted);
});

describe("a transaction", () => {
  const get = (transaction: object | undefined) =>
    ask("GetTransaction", { digest: "wanted" }, { transaction });

  it("has the requested digest everywhere", async () => {
    const events = { events: [{ transactionDigest: "wanted" }, { transactionDigest: "wanted" }] };
    const effects = { transactionDigest: "wanted" };
    expect(await get({ digest: "wanted", transaction: { digest: "wanted" }, effects, events })).toEqual(
      accepted,
    );
    expect(await get(undefined)).toEqual(accepted);
    for (const other of [
      ...[{ digest: "other" }, {}, { digest: "wanted", transaction: { digest: "other" } }],
      { digest: "wanted", effects: { transactionDigest: "other" } },
      { digest: "wanted", events: { events: [...events.events, { transactionDigest: "other" }] } },
    ])
      expect(await get(other)).toEqual(refused("transaction"));
  });

  it("has the digest of its bytes, and of the sent bytes", async () => {
    const build = async (gasPrice: number) => {
      const tx = new Transaction();
      tx.setSender(ONE);
      tx.setGasBudget(1);
      tx.setGasPrice(gasPrice);
      tx.setGasPayment([{ objectId: TWO, version: "1", digest: "11111111111111111111111111111111" }]);
      return await tx.build();
    };
    const [sent, other] = [await build(1), await build(2)];
    const digest = TransactionDataBuilder.getDigestFromBytes(sent);
    const of = (bytes: Uint8Array) => ({ bcs: { value: bytes } });
    const answer = (bytes: Uint8Array) => ({ transaction: { digest, transaction: of(bytes) } });
    expect(await ask("GetTransaction", { digest }, answer(sent))).toEqual(accepted);
    expect(await ask("GetTransaction", { digest }, answer(other))).toEqual(refused("transaction"));
    const execute = (bytes: Uint8Array) =>
      ask("ExecuteTransaction", { transaction: of(bytes) }, { transaction: { digest } });
    expect(await execute(sent)).toEqual(accepted);
    expect(await execute(other)).toEqual(refused("transaction"));
  });
});

it("an answer to a request that names nothing is passed on", async () => {
  expect(await ask("GetServiceInfo", {}, {})).toEqual(accepted);
});
