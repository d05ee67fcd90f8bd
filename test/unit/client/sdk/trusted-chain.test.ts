import { bytesToHex } from "@noble/hashes/utils.js";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Fullnode } from "../../../../src/client/sdk/chain/fullnode.ts";
import { CHAIN_PINS } from "../../../../src/client/sdk/chain/network.ts";
import { DWALLET, ENCRYPTED_SHARE, type ObjectKind } from "../../../../src/client/sdk/chain/object-kinds.ts";
import { createTrustedChain } from "../../../../src/client/sdk/chain/trusted-chain.ts";
import { hexToBytes } from "../../../../src/protocol/bytes.ts";
import type { FullnodeObject } from "../../../../src/protocol/chain/chain-reader.ts";
import { DWallet } from "../../../../src/protocol/chain/chain-structs.ts";
import { pollObject } from "../../../../src/protocol/chain/poll.ts";
import { act } from "./chain-harness.ts";

const { ika, chainIdentifier } = CHAIN_PINS.testnet;
const ID = `0x${"a".repeat(64)}`;
const id = (digit: string): string => `0x${digit.repeat(64)}`;
const typeOf = (name: string): string => `${ika.ikaDwallet2pcMpcOriginalPackage}::coordinator_inner::${name}`;
const share = (last: number): FullnodeObject => ({
  type: typeOf("EncryptedUserSecretKeyShare"),
  content: Uint8Array.from([...hexToBytes(ID.slice(2)), last]),
});
const dwallet = (state: Parameters<typeof DWallet.serialize>[0]["state"], signCount = 0): FullnodeObject => ({
  type: typeOf("DWallet"),
  content: DWallet.serialize({
    id: ID,
    created_at_epoch: 0,
    curve: 2,
    public_user_secret_key_share: null,
    dwallet_cap_id: id("c"),
    dwallet_network_encryption_key_id: id("e"),
    is_imported_key_dwallet: false,
    encrypted_user_secret_key_shares: { id: id("1"), size: 1 },
    sign_sessions: { id: id("2"), size: signCount },
    state,
  }).toBytes(),
});

/** A fullnode with these answers for the one object; the last answer repeats. An error is thrown. */
function node(
  answers: readonly (FullnodeObject | undefined | Error)[],
  identifier = chainIdentifier,
  epoch = 0n,
) {
  const fullnode = {
    readCount: 0,
    chainIdentifier: vi.fn<Fullnode["chainIdentifier"]>(async () => identifier),
    position: async () => ({ chainIdentifier: identifier, epoch }),
    async objects() {
      const answer = answers[Math.min(fullnode.readCount++, answers.length - 1)];
      if (answer instanceof Error) throw answer;
      return new Map(answer === undefined ? [] : [[ID, answer]]);
    },
  };
  return fullnode;
}

function chainOf(fullnodes: readonly Fullnode[]) {
  return createTrustedChain({ fullnodes: async () => fullnodes, ids: async () => ika, chainIdentifier });
}

/** The object's contents in hex, as an action reads them, with all waits skipped. */
async function read(fullnodes: readonly Fullnode[], kind: ObjectKind = ENCRYPTED_SHARE): Promise<string> {
  const result = act(async (action) => {
    const reader = await chainOf(fullnodes).reader(action, kind);
    return bytesToHex((await reader.getObjects([ID])).get(ID) ?? new Uint8Array());
  });
  await Promise.allSettled([result, vi.runAllTimersAsync()]);
  return await result;
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe("the chain", () => {
  test("is asked for its identifier only at the first use", async () => {
    const fullnode = node([share(1)]);
    const chain = chainOf([fullnode]);
    await act((action) => chain.reader(action, ENCRYPTED_SHARE));
    await act((action) => chain.reader(action, DWALLET));
    expect(fullnode.chainIdentifier).toHaveBeenCalledTimes(1);
  });

  test.each([0, 1])(
    "is refused before anything is read when fullnode %i serves another one",
    async (other) => {
      const fullnodes = [0, 1].map((index) =>
        node([share(1)], index === other ? CHAIN_PINS.mainnet.chainIdentifier : chainIdentifier),
      );
      await expect(read(fullnodes)).rejects.toMatchObject({
        reason: "NETWORK_MISMATCH",
        metadata: { fullnode: String(other + 1) },
      });
      expect(fullnodes.map(({ readCount }) => readCount)).toEqual([0, 0]);
    },
  );

  test("is asked for its identifier again after a refusal", async () => {
    const fullnode = node([share(1)], "another");
    const chain = chainOf([fullnode]);
    for (let attempt = 0; attempt < 2; attempt++) {
      const result = act((action) => chain.reader(action, ENCRYPTED_SHARE));
      await expect(result).rejects.toMatchObject({ reason: "NETWORK_MISMATCH" });
    }
  });

  test("must be the same on all fullnodes if it is not pinned", async () => {
    const chain = createTrustedChain({
      fullnodes: async () => [node([], "one"), node([], "another")],
      ids: async () => ika,
      chainIdentifier: undefined,
    });
    await expect(act((action) => chain.reader(action, ENCRYPTED_SHARE))).rejects.toMatchObject({
      reason: "NETWORK_MISMATCH",
    });
  });
});

test.each([[[7n, 8n, 9n]], [[9n, 7n, 8n]], [[8n, 9n, 7n]]])(
  "the epoch is the lowest that a fullnode reports: %s",
  async (epochs) => {
    const chain = chainOf(epochs.map((epoch) => node([], chainIdentifier, epoch)));
    expect((await act((action) => chain.position(action))).epoch).toBe(7n);
  },
);

describe("fullnodes", () => {
  const contents = bytesToHex(share(1).content);

  test("are trusted if they agree", async () => {
    expect(await read([node([share(1)]), node([share(1)]), node([share(1)])])).toBe(contents);
    expect(await read([node([undefined]), node([undefined])])).toBe("");
  });

  test("are polled again while one lags behind", async () => {
    const late = node([undefined, share(0), share(1)]);
    expect(await read([node([share(1)]), late])).toBe(contents);
    expect(late.readCount).toBe(3);
  });

  test.each([
    ["other contents", share(2)],
    ["another type", { ...share(1), type: "0x2::a::B" }],
    ["no such object", undefined],
  ])("of which one keeps giving %s end the read within a limit", async (_, lie) => {
    const liar = node([lie]);
    const start = performance.now();
    await expect(read([node([share(1)]), node([share(1)]), liar])).rejects.toMatchObject({
      reason: "FULLNODES_DISAGREE",
      metadata: { objectId: ID, fullnode: "3" },
    });
    expect(performance.now() - start).toBeLessThanOrEqual(31_000);
    expect(liar.readCount).toBeLessThan(40);
  });

  test("that disagree end the action with an error within its time limit", async () => {
    const chain = chainOf([node([share(1)]), node([share(2)])]);
    const result = act(async (action) => {
      await (await chain.reader(action, ENCRYPTED_SHARE)).getObjects([ID]);
    }, 1000);
    await Promise.allSettled([result, vi.runAllTimersAsync()]);
    await expect(result).rejects.toMatchObject({ reason: "FULLNODES_DISAGREE" });
  });

  test("are retried if one is down, and the others cannot replace its answer", async () => {
    const down = node([new Error("connect ECONNREFUSED")]);
    await expect(read([node([share(1)]), down])).rejects.toMatchObject({
      reason: "CHAIN_UNAVAILABLE",
      metadata: { fullnode: "2" },
    });
    expect(down.readCount).toBe(2);
    const once = node([new Error("socket hang up"), share(1)]);
    expect(await read([node([share(1)]), once])).toBe(contents);
  });

  test.each([
    ["another object's", share(1).content.with(0, 7)],
    ["too few", new Uint8Array(3)],
  ])("of which one returns contents that are %s count as unanswered", async (_, content) => {
    const mixing = node([{ ...share(1), content }]);
    await expect(read([node([share(1)]), mixing])).rejects.toMatchObject({
      reason: "CHAIN_UNAVAILABLE",
      metadata: { fullnode: "2" },
    });
  });

  test("agree on a dWallet that signs meanwhile, but not if its state or output differs", async () => {
    const active = (byte: number, signCount: number) => dwallet({ Active: Uint8Array.of(byte) }, signCount);
    expect(await read([node([active(1, 7)]), node([active(1, 8)])], DWALLET)).toBe(
      bytesToHex(active(1, 7).content),
    );
    for (const lie of [active(2, 7), dwallet({ AwaitingKeyHolderSignature: Uint8Array.of(1) })]) {
      await expect(read([node([active(1, 7)]), node([lie])], DWALLET)).rejects.toMatchObject({
        reason: "FULLNODES_DISAGREE",
      });
    }
  });
});

test.each([
  ["a package that is not Ika's", `${id("b")}::coordinator_inner::EncryptedUserSecretKeyShare`],
  ["another kind", typeOf("EncryptionKey")],
])("an object of %s is refused, and is not waited for", async (_, type) => {
  const fullnode = node([{ ...share(1), type }]);
  const result = act(async (action) => {
    const reader = await chainOf([fullnode]).reader(action, ENCRYPTED_SHARE);
    const parse = (): never => {
      throw new Error("it is never parsed");
    };
    return await pollObject(reader, ID, parse, [], { timeoutMs: 60_000 });
  });
  await Promise.allSettled([result, vi.runAllTimersAsync()]);
  await expect(result).rejects.toMatchObject({ reason: "OBJECT_MISMATCH", metadata: { objectId: ID } });
  expect(fullnode.readCount).toBe(1);
});
