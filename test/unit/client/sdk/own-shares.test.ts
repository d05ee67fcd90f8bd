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

test("names that are no ids are ignored, and only the first 200 entries are read", async () => {
  const own = { id: idOf(500) };
  const name = hexToBytes(own.id.slice(2));
  const filler = (count: number) => Array.from({ length: count }, () => new Uint8Array(31));
  expect(await find([own], [...filler(199), name])).toEqual([own.id]);
  expect(await find([own], [...filler(200), name])).toEqual([]);
});
