import { expect, test } from "vitest";
import type { Action } from "../../../../src/client/sdk/action.ts";
import { findOwnShares } from "../../../../src/client/sdk/actions/own-shares.ts";
import type { ClientContext } from "../../../../src/client/sdk/context.ts";
import { hexToBytes } from "../../../../src/protocol/bytes.ts";
import { EncryptedUserSecretKeyShare } from "../../../../src/protocol/chain/chain-structs.ts";

const idOf = (number: number) => `0x${number.toString(16).padStart(64, "0")}`;
const [DWALLET, USER, OTHER, TABLE] = [1, 2, 3, 4].map((each) => idOf(0xf000 + each)) as [
  string,
  string,
  string,
  string,
];

interface TestShare {
  readonly id: string;
  readonly owner?: string;
  readonly source?: string;
  readonly isAccepted?: boolean;
}

const encode = ({ id, owner = USER, source, isAccepted = true }: TestShare) =>
  EncryptedUserSecretKeyShare.serialize({
    id,
    created_at_epoch: 0,
    dwallet_id: DWALLET,
    encrypted_centralized_secret_share_and_proof: [],
    encryption_key_id: idOf(9),
    encryption_key_address: owner,
    source_encrypted_user_secret_key_share_id: source ?? null,
    state: isAccepted ? { KeyHolderSigned: [1] } : { NetworkVerificationCompleted: true },
  }).toBytes();

/** Finds the user's shares where the chain has these, and the fullnode lists these names. */
async function find(
  shares: readonly TestShare[],
  names: readonly Uint8Array[] = shares.map(({ id }) => hexToBytes(id.slice(2))),
): Promise<string[]> {
  const contents = new Map(shares.map((share) => [share.id, encode(share)]));
  const context = {
    async *tableEntries() {
      yield* names.map((name) => ({ name, value: undefined }));
    },
    chainReader: async () => ({
      getObjects: async (ids: readonly string[]) =>
        new Map(ids.flatMap((id) => (contents.has(id) ? [[id, contents.get(id)!] as const] : []))),
    }),
  } as unknown as ClientContext;
  const dwallet = { id: DWALLET, encryptedShareTableId: TABLE };
  return (await findOwnShares(context, {} as Action, dwallet, USER)).map(({ id }) => id);
}

test("the DKG's share comes before a share that was passed on, and an accepted one before another", async () => {
  const [passedOn, pending, ofDkg, foreign] = [1, 2, 3, 4].map(idOf) as [string, string, string, string];
  const found = await find([
    { id: pending, source: ofDkg, isAccepted: false },
    { id: passedOn, source: ofDkg },
    { id: foreign, owner: OTHER },
    { id: ofDkg },
  ]);
  expect(found).toEqual([ofDkg, passedOn, pending]);
});

const nameOf = (number: number) => hexToBytes(idOf(number).slice(2));

test("the user's share is found behind more shares of others than a page of the list has", async () => {
  const own = { id: idOf(0xa000) };
  const others = Array.from({ length: 1_200 }, (_, at) => ({ id: idOf(at + 1), owner: OTHER }));
  expect(await find([...others, own])).toEqual([own.id]);
});

test("names that are no ids are ignored, and a share that each fullnode lists counts once", async () => {
  const own = { id: idOf(0xa000), source: idOf(1) };
  const list = [nameOf(0xa000), new Uint8Array(31), ...Array.from({ length: 60 }, (_, at) => nameOf(at + 1))];
  expect(await find([own], [...list, ...list])).toEqual([own.id]);
});

test("a share beyond 10,000 others ends the search with an error that names the bound", async () => {
  const own = { id: idOf(0xa000) };
  const others = Array.from({ length: 10_000 }, (_, at) => nameOf(at + 0xb000));
  expect(await find([own], [...others.slice(1), nameOf(0xa000)])).toEqual([own.id]);
  await expect(find([own], [...others, nameOf(0xa000)])).rejects.toMatchObject({
    reason: "TOO_MANY_SHARES",
    metadata: { dwalletId: DWALLET, maxCount: "10000" },
  });
});

test("a fullnode that repeats its entries forever ends the search", async () => {
  const again = nameOf(1);
  await expect(
    find(
      [],
      Array.from({ length: 80_001 }, () => again),
    ),
  ).rejects.toMatchObject({
    reason: "TOO_MANY_SHARES",
  });
});

test("nothing is read after the DKG's accepted share, so nobody can hide it behind later ones", async () => {
  const own = { id: idOf(0xa000) };
  const others = Array.from({ length: 10_000 }, (_, at) => nameOf(at + 0xb000));
  expect(await find([own], [nameOf(0xa000), ...others])).toEqual([own.id]);
});
