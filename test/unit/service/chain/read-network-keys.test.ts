import { expect, it } from "vitest";
import type { Read } from "../../../../src/service/chain/fullnodes/retry-read.ts";
import { readNetworkKeys } from "../../../../src/service/chain/reader.ts";
import { encodeNetworkKey } from "../../../support/chain/network-key.ts";
import { objectId } from "../../../support/database/rows.ts";

const read: Read = (call) => call(new AbortController().signal);

/** A chain whose list of keys has these pages; each page names the next one. */
function chainOf(pages: readonly (readonly string[])[], contents: ReadonlyMap<string, Uint8Array>) {
  const listDynamicFields = async ({ cursor }: { cursor: string | null }) => {
    const index = Number(cursor ?? 0);
    const dynamicFields = pages[index]!.map((childId) => ({ childId }));
    return { dynamicFields, hasNextPage: index + 1 !== pages.length, cursor: String(index + 1) };
  };
  const ensureInitialized = async () => ({
    coordinatorInner: { dwallet_network_encryption_keys: { id: objectId() } },
  });
  const network = { client: { core: { listDynamicFields } }, ika: { ensureInitialized } } as never;
  const getObjects = async (ids: readonly string[]) =>
    new Map(ids.flatMap((id) => (contents.has(id) ? [[id, contents.get(id)!]] : [])));
  return () => readNetworkKeys(network, read, { getObjects });
}

const contentsOf = (...keys: Parameters<typeof encodeNetworkKey>[0][]) =>
  new Map(keys.map((key) => [key.id, encodeNetworkKey(key)]));

it("network keys come from every page of the list, the oldest first", async () => {
  const [one, two, three] = [1, 2, 3].map((epoch) => ({ id: objectId(), epoch }));
  const keys = chainOf([[three!.id], [one!.id, two!.id]], contentsOf(one!, two!, three!));
  expect(await keys()).toEqual([one, two, three]);
});

it("a network key is left out while its DKG runs", async () => {
  const made = { id: objectId(), epoch: 1 };
  const awaited = { id: objectId(), epoch: 2, isMade: false };
  expect(await chainOf([[made.id, awaited.id]], contentsOf(made, awaited))()).toEqual([made]);
});

it("a list that names a network key without an object is CHAIN_UNAVAILABLE, not a shorter list", async () => {
  const key = { id: objectId(), epoch: 1 };
  const keys = chainOf([[key.id, objectId()]], contentsOf(key));
  await expect(keys()).rejects.toMatchObject({ reason: "CHAIN_UNAVAILABLE" });
});

it("a list of network keys that never ends is CHAIN_UNAVAILABLE", async () => {
  const page = [objectId(), objectId()];
  const endless = Array.from({ length: 10_000 }, () => page);
  await expect(chainOf(endless, new Map())()).rejects.toMatchObject({ reason: "CHAIN_UNAVAILABLE" });
});
