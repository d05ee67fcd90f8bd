import { bcs } from "@mysten/sui/bcs";
import { type SuiClientTypes, TransactionError } from "@mysten/sui/client";
import { Transaction } from "@mysten/sui/transactions";
import { deriveDynamicFieldID } from "@mysten/sui/utils";
import { ServiceError } from "../errors/service-error.ts";
import { type ChainEncryptionKey, parseEncryptionKey } from "../protocol/chain-objects.ts";
import { type ChainReader, createChainReader } from "../protocol/chain-reader.ts";
import type { ChainNetwork } from "./network.ts";
import type { LandedTransaction } from "./operation.ts";
import type { OwnedRef } from "./treasury-calls.ts";
import { withDeadline } from "./with-deadline.ts";

/** The newest network encryption key. */
export interface NetworkKey {
  readonly id: string;
  readonly epoch: number;
  /** Whether a reconfiguration has made a newer output than the network's DKG. */
  readonly isReconfigured: boolean;
}

/** The outcome of a transaction that the fullnode knows. */
export type TransactionOutcome =
  | { readonly kind: "landed"; readonly transaction: LandedTransaction; readonly gasUsedMist: bigint }
  | { readonly kind: "aborted"; readonly error: ExecutionFailure; readonly gasUsedMist: bigint };

/** Why the chain did not do what a transaction asked for. */
export interface ExecutionFailure {
  readonly message: string;
  readonly abort?: { readonly module: string; readonly code: number };
  readonly kind: string;
}

/** What the service reads from the chain. Every call has a deadline; idempotent reads are tried twice. */
export interface NetworkReader extends ChainReader {
  networkKey(): Promise<NetworkKey>;
  /** The network DKG's public output, as parameters are derived from it. */
  networkDkgOutput(): Promise<Uint8Array>;
  /** The encryption key that this address has registered, if any. */
  registeredEncryptionKey(signerAddress: string): Promise<ChainEncryptionKey | undefined>;
  /** The current reference of an object that an address owns. */
  ownedRef(objectId: string): Promise<OwnedRef>;
  epoch(): Promise<bigint>;
  /**
   * The transaction that asked for the session with this identifier preimage: the chain registers each one once, for
   * ever (`sessions_manager::registered_user_session_identifiers`), in a field that nothing changes later. Undefined
   * when this fullnode knows none, which proves nothing while it lags behind.
   */
  sessionRequest(preimage: Uint8Array): Promise<LandedTransaction | undefined>;
  /** The transaction that wrote the newest version of an object; undefined when there is no such object. */
  lastChange(objectId: string): Promise<string | undefined>;
  /** Undefined when this fullnode does not know the digest. */
  effects(digest: string): Promise<ObjectChanges | undefined>;
  /** Undefined when this fullnode does not know the digest, which proves nothing about others. */
  transaction(digest: string): Promise<TransactionOutcome | undefined>;
}

/** Which versions of which objects a transaction took and wrote. */
export interface ObjectChanges {
  readonly inputVersions: ReadonlyMap<string, string>;
  readonly outputVersions: ReadonlyMap<string, string>;
  /** The transactions that wrote what it took. */
  readonly dependencies: readonly string[];
}

const READ_TIMEOUT_MS = 10_000;
const NETWORK_KEY_TTL_MS = 5_000;

/** Reads through the network's clients. Throws CHAIN_UNAVAILABLE when the fullnode does not answer. */
export function createNetworkReader(network: ChainNetwork, now: () => number = Date.now): NetworkReader {
  const { client, ika } = network;
  const objects = createChainReader(client.core);
  const find = (digest: string): Promise<TransactionResult | undefined> =>
    read(async (signal) => {
      try {
        return await client.core.getTransaction({ digest, include: { effects: true, events: true }, signal });
      } catch (error) {
        if (error instanceof TransactionError && error.reason === "notFound") return undefined;
        throw error;
      }
    });
  const transaction = async (digest: string): Promise<TransactionOutcome | undefined> => {
    const found = await find(digest);
    return found && toOutcome(found);
  };
  const lastChange = (objectId: string): Promise<string | undefined> =>
    read(async (signal) => {
      const { objects } = await client.core.getObjects({
        objectIds: [objectId],
        include: { previousTransaction: true },
        signal,
      });
      // The client answers with an Error in the place of an object that does not exist.
      return objects[0] instanceof Error ? undefined : (objects[0]?.previousTransaction ?? undefined);
    });
  let cachedKey: { key: Promise<NetworkKey>; untilMs: number } | undefined;

  return {
    getObjects: (ids, signal) => read((deadline) => objects.getObjects(ids, anySignal(signal, deadline))),
    networkKey() {
      if (!cachedKey || cachedKey.untilMs <= now()) {
        const key = read(async () => toNetworkKey(await ika.getLatestNetworkEncryptionKey()));
        cachedKey = { key, untilMs: now() + NETWORK_KEY_TTL_MS };
        key.catch(() => {
          cachedKey = undefined;
        });
      }
      return cachedKey.key;
    },
    networkDkgOutput: () =>
      read(async () => {
        const key = await ika.getLatestNetworkEncryptionKey();
        return ika.readTableVecAsRawBytes(key.networkDKGOutputID);
      }),
    async registeredEncryptionKey(signerAddress) {
      const id = await read(() => activeEncryptionKeyId(network, signerAddress));
      if (id === undefined) return undefined;
      const content = (await read((signal) => objects.getObjects([id], signal))).get(id);
      return content && parseEncryptionKey(content);
    },
    ownedRef: (objectId) =>
      read(async (signal) => {
        const { object } = await client.core.getObject({ objectId, signal });
        return { objectId, version: object.version, digest: object.digest };
      }),
    epoch: () =>
      read(async (signal) => BigInt((await client.core.getCurrentSystemState({ signal })).systemState.epoch)),
    async sessionRequest(preimage) {
      const { coordinatorInner } = await read(() => ika.ensureInitialized());
      const table = coordinatorInner.sessions_manager.registered_user_session_identifiers.id;
      const objectId = deriveDynamicFieldID(
        table,
        "vector<u8>",
        bcs.byteVector().serialize(preimage).toBytes(),
      );
      const digest = await lastChange(objectId);
      if (digest === undefined) return undefined;
      const outcome = await transaction(digest);
      return outcome?.kind === "landed" ? outcome.transaction : undefined;
    },
    lastChange,
    async effects(digest) {
      const found = await find(digest);
      return found && toChanges((found.Transaction ?? found.FailedTransaction).effects);
    },
    transaction,
  };
}

type TransactionResult = SuiClientTypes.TransactionResult<{ effects: true; events: true }>;

/** The outcome in a fullnode's reply, executed or looked up. */
export function toOutcome(result: TransactionResult): TransactionOutcome {
  const transaction = result.Transaction ?? result.FailedTransaction;
  const gas = transaction.effects.gasUsed;
  const gasUsedMist = BigInt(gas.computationCost) + BigInt(gas.storageCost) - BigInt(gas.storageRebate);
  if (transaction.status.success) {
    const events = transaction.events.map((event) => ({ type: event.eventType, bcs: event.bcs }));
    return { kind: "landed", transaction: { digest: transaction.digest, events }, gasUsedMist };
  }
  return { kind: "aborted", error: toFailure(transaction.status.error), gasUsedMist };
}

function toChanges({ changedObjects, dependencies }: SuiClientTypes.TransactionEffects): ObjectChanges {
  const versions = (of: "inputVersion" | "outputVersion"): Map<string, string> =>
    new Map(changedObjects.flatMap((object) => (object[of] === null ? [] : [[object.objectId, object[of]]])));
  return {
    inputVersions: versions("inputVersion"),
    outputVersions: versions("outputVersion"),
    dependencies,
  };
}

/** What the chain says of a failed execution, real or simulated. */
export function toFailure(error: {
  message: string;
  $kind: string;
  MoveAbort?: { abortCode: string; location?: { module?: string } };
}): ExecutionFailure {
  const { message, $kind: kind, MoveAbort: abort } = error;
  if (!abort) return { message, kind };
  return { message, kind, abort: { module: abort.location?.module ?? "", code: Number(abort.abortCode) } };
}

async function activeEncryptionKeyId(
  network: ChainNetwork,
  signerAddress: string,
): Promise<string | undefined> {
  const tx = new Transaction();
  tx.setSender(network.senderAddress);
  tx.moveCall({
    target: `${network.ikaConfig.packages.ikaDwallet2pcMpcPackage}::coordinator::get_active_encryption_key`,
    arguments: [
      tx.sharedObjectRef({ ...network.coordinatorRef, mutable: false }),
      tx.pure.address(signerAddress),
    ],
  });
  const result = await network.client.core.simulateTransaction({
    transaction: tx,
    include: { commandResults: true },
  });
  const value = result.commandResults?.[0]?.returnValues[0]?.bcs;
  // The call aborts when the address has registered none.
  return result.$kind === "Transaction" && value ? bcs.Address.parse(value) : undefined;
}

function toNetworkKey(key: {
  id: string;
  epoch: number;
  reconfigurationOutputID?: string | undefined;
}): NetworkKey {
  return { id: key.id, epoch: key.epoch, isReconfigured: Boolean(key.reconfigurationOutputID) };
}

async function read<T>(attempt: (signal: AbortSignal) => Promise<T>): Promise<T> {
  try {
    return await withDeadline(READ_TIMEOUT_MS, attempt).catch(() => withDeadline(READ_TIMEOUT_MS, attempt));
  } catch (cause) {
    throw new ServiceError("CHAIN_UNAVAILABLE", "the fullnode does not answer", { cause });
  }
}

function anySignal(first: AbortSignal | undefined, second: AbortSignal): AbortSignal {
  return first ? AbortSignal.any([first, second]) : second;
}
