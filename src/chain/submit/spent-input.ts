import { Transaction } from "@mysten/sui/transactions";
import type { NetworkReader } from "../reader.ts";

/** An object version that a transaction wanted and another one had. */
export interface SpentInput {
  readonly objectId: string;
  /** The transaction that made its successor version. */
  readonly byDigest: string;
}

/** How many later changes of an object are followed back to the one that is looked for. */
const STEPS_AT_MOST = 64;

/**
 * An owned input of these bytes whose very version another transaction has used: then they can never land. Undefined
 * while no such transaction is found, which proves nothing.
 */
export async function findSpentInput(
  reader: Pick<NetworkReader, "ownedObjects" | "effects">,
  stored: { readonly digest: string; readonly bytes: Uint8Array },
): Promise<SpentInput | undefined> {
  for (const { objectId, version } of ownedInputs(stored.bytes)) {
    const byDigest = await userOf(reader, objectId, version);
    if (byDigest !== undefined && byDigest !== stored.digest) return { objectId, byDigest };
  }
  return undefined;
}

function ownedInputs(bytes: Uint8Array): { objectId: string; version: string }[] {
  const { inputs, gasData } = Transaction.from(bytes).getData();
  const owned = inputs.flatMap(({ Object: input }) =>
    input?.ImmOrOwnedObject === undefined ? [] : [input.ImmOrOwnedObject],
  );
  return [...owned, ...(gasData.payment ?? [])].map(({ objectId, version }) => ({
    objectId,
    version: String(version),
  }));
}

/** The transaction that took the object in this version, found from its newest one backwards; undefined if not found. */
export async function userOf(
  reader: Pick<NetworkReader, "ownedObjects" | "effects">,
  objectId: string,
  version: string,
): Promise<string | undefined> {
  let digest = (await reader.ownedObjects([objectId])).get(objectId)?.lastChange;
  for (let step = 0; step < STEPS_AT_MOST && digest !== undefined; step++) {
    const effects = await reader.effects(digest);
    const inputVersion = effects?.inputVersions.get(objectId);
    if (effects === undefined || inputVersion === undefined) return undefined;
    if (inputVersion === version) return digest;
    if (BigInt(inputVersion) < BigInt(version)) return undefined;
    digest = await writerOf(reader, effects.dependencies, objectId, inputVersion);
  }
  return undefined;
}

/** Which of these transactions wrote the object in this version; undefined if none of them did. */
export async function writerOf(
  reader: Pick<NetworkReader, "effects">,
  digests: readonly string[],
  objectId: string,
  version: string,
): Promise<string | undefined> {
  for (const digest of digests) {
    if ((await reader.effects(digest))?.written.get(objectId)?.version === version) return digest;
  }
  return undefined;
}
