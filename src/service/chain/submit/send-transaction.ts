import { Transaction } from "@mysten/sui/transactions";
import type { ChainNetwork } from "../fullnodes/network.ts";
import { withDeadline } from "../fullnodes/with-deadline.ts";
import { type TransactionOutcome, toOutcome } from "../outcome.ts";
import type { NetworkReader } from "../reader.ts";
import type { StoredTransaction } from "./outbox.ts";

/**
 * Sends stored bytes. Sending the same bytes again is safe: the chain returns the first outcome. Throws when the
 * outcome is unknown; the caller then sends the same bytes again later.
 */
export async function sendTransaction(
  network: ChainNetwork,
  reader: NetworkReader,
  stored: StoredTransaction,
): Promise<SendResult> {
  try {
    const result = await withDeadline(network.clock, network.times.executeMs, (signal) =>
      network.backOff.run(
        () =>
          network.client.core.executeTransaction({
            transaction: stored.bytes,
            signatures: [...stored.signatures],
            include: { effects: true, events: true },
            signal,
          }),
        signal,
      ),
    );
    const outcome = toOutcome(result);
    if (outcome.kind === "landed") return outcome;
    // An abort is classified by reading the chain, so the fullnode that answers must have seen the abort.
    const seen = await reader.transaction(stored.digest);
    if (seen !== undefined) return seen;
    throw new Error("the fullnode has not seen the transaction yet");
  } catch (error) {
    const dead = await findDeath(reader, stored);
    // This look-up comes last: if the transaction landed, it did so before whatever made it look dead.
    const known = await reader.transaction(stored.digest);
    if (known) return known;
    if (dead === undefined) {
      throw new Error(`transaction ${stored.digest} has no outcome yet; its lane is waiting for it`, {
        cause: error,
      });
    }
    return dead;
  }
}

/** The result of sending: the chain's outcome, or `dead` if these bytes can never land. */
export type SendResult = TransactionOutcome | DeadTransaction;

/** Bytes that can never land. */
export interface DeadTransaction {
  readonly kind: "dead";
  readonly reason: string;
  /** The input that another transaction has used, if this is the reason. */
  readonly spent?: SpentInput;
}

/**
 * Returns why a transaction that the fullnode does not know can never land, or undefined if it still may. It cannot if
 * its last epoch has ended or another transaction has used one of its inputs. A newer version of an input alone proves
 * nothing, because this transaction may have written it.
 */
async function findDeath(
  reader: NetworkReader,
  stored: StoredTransaction,
): Promise<DeadTransaction | undefined> {
  const { expiration } = Transaction.from(stored.bytes).getData();
  const lastEpoch = expiration?.$kind === "Epoch" ? expiration.Epoch : expiration?.ValidDuring?.maxEpoch;
  if (lastEpoch != null && (await reader.epoch()).epoch > BigInt(lastEpoch)) {
    return { kind: "dead", reason: `its last epoch ${lastEpoch} has ended` };
  }
  const spent = await findSpentInput(reader, stored);
  if (spent === undefined) return undefined;
  return { kind: "dead", reason: `its input ${spent.objectId} was used by ${spent.byDigest}`, spent };
}

/** An object version that another transaction has used. */
interface SpentInput {
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
