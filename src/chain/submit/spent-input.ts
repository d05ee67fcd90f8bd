import { Transaction } from "@mysten/sui/transactions";
import type { NetworkReader } from "../reader.ts";

/** An object version that another transaction has used. */
export interface SpentInput {
  readonly objectId: string;
  /** The transaction that wrote the next version. */
  readonly byDigest: string;
}

/** The maximum number of later versions of an object to follow back. */
const STEPS_AT_MOST = 64;

/**
 * Returns an owned input whose exact version another transaction has used, so that these bytes can never land.
 * Undefined if none is found, which proves nothing.
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

/**
 * Follows the object back from its newest version to the transaction that used this version. Returns undefined if it is
 * not found.
 */
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

/** Returns the transaction among these that wrote this version of the object, or undefined. */
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
