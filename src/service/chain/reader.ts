import { bcs } from "@mysten/sui/bcs";
import { type SuiClientTypes, TransactionError } from "@mysten/sui/client";
import { Transaction } from "@mysten/sui/transactions";
import { deriveDynamicFieldID } from "@mysten/sui/utils";
import { equalBytes } from "../../protocol/bytes.ts";
import {
  type ChainEncryptionKey,
  parseEncryptionKey,
  parseNetworkEncryptionKey,
} from "../../protocol/chain/chain-objects.ts";
import { type ChainReader, createChainReader, presentObjects } from "../../protocol/chain/chain-reader.ts";
import {
  coordinatorInnerId,
  currentEpoch,
  readKeyOutputs,
} from "../../protocol/chain/coordinator-objects.ts";
import { Address } from "../../protocol/chain/fast-bcs.ts";
import { MixedUpAnswerError } from "../../protocol/chain/read-errors.ts";
import { chooseKeyOutput } from "../../protocol/parameters/network-key-output.ts";
import { ServiceError } from "../platform/errors/service-error.ts";
import { requestedPreimages } from "./events.ts";
import type { ChainNetwork } from "./fullnodes/network.ts";
import { type Read, retryRead } from "./fullnodes/retry-read.ts";
import type { LandedTransaction } from "./operation.ts";
import {
  type ObjectChanges,
  type TransactionOutcome,
  type TransactionResult,
  toChanges,
  toOutcome,
} from "./outcome.ts";
import type { OwnedRef } from "./treasury/treasury-calls.ts";

/** The current epoch and its gas price. */
interface SuiEpoch {
  readonly epoch: bigint;
  readonly gasPriceMist: bigint;
}

/** The fullnode's version of an owned object. */
export interface OwnedObject extends OwnedRef {
  /** Digest of the transaction that wrote this version. */
  readonly lastChange: string | undefined;
}

/** A SUI coin. */
export interface GasCoin extends OwnedRef {
  readonly balanceMist: bigint;
}

/** Reads the chain. Every call has a deadline, and idempotent reads are retried once. */
export interface NetworkReader extends ChainReader {
  /** Returns the newest network key. */
  networkKey(): Promise<NetworkKey>;
  /** Returns all network keys, the oldest first. A dWallet keeps the key under which it was created. */
  networkKeys(): Promise<readonly NetworkKey[]>;
  /**
   * Returns the key's output, from which parameters are derived. It is the same in every epoch. Throws the errors of
   * {@link chooseKeyOutput}.
   */
  networkKeyOutput(networkKeyId: string): Promise<Uint8Array>;
  /** Returns the encryption key that this address has registered, if any. */
  registeredEncryptionKey(signerAddress: string): Promise<ChainEncryptionKey | undefined>;
  /** Returns owned objects by id, in the newest versions that this fullnode knows. Objects that it lacks are absent. */
  ownedObjects(objectIds: readonly string[]): Promise<ReadonlyMap<string, OwnedObject>>;
  /** Returns all SUI coins of an address. */
  gasCoins(owner: string): Promise<GasCoin[]>;
  /**
   * Returns the balance of an address outside of coins (SIP-58), in the coin's smallest unit. Lists of coins omit it.
   */
  addressBalance(owner: string, coinType: string): Promise<bigint>;
  epoch(): Promise<SuiEpoch>;
  /** Returns the digest of the first checkpoint of the chain, in Base58. */
  chainIdentifier(): Promise<string>;
  /** Returns the number of sessions that the network processes at a time. More sessions wait in its queue. */
  sessionBuffer(): Promise<number>;
  /**
   * Returns the transaction that requested the session with this identifier preimage. The chain registers each preimage
   * once and forever (`sessions_manager::registered_user_session_identifiers`). Undefined if this fullnode knows none,
   * which proves nothing while it lags behind.
   */
  sessionRequest(preimage: Uint8Array): Promise<LandedTransaction | undefined>;
  /** Undefined if this fullnode does not know the digest. */
  effects(digest: string): Promise<ObjectChanges | undefined>;
  /** Undefined if this fullnode does not know the digest. Another fullnode may know it. */
  transaction(digest: string): Promise<TransactionOutcome | undefined>;
}

const NETWORK_KEY_TTL_MS = 5_000;

/** Creates a reader over the network's clients. Its calls throw CHAIN_UNAVAILABLE if the fullnode does not answer. */
export function createNetworkReader(network: ChainNetwork): NetworkReader {
  const { client, ika, clock } = network;
  const objects = createChainReader(client.core);
  const read = retryRead(network);
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
  const mixedUp = (what: string, message: string): MixedUpAnswerError => {
    const error = new MixedUpAnswerError(what, message);
    network.onMixUp?.(error);
    return error;
  };
  let cached: { keys: Promise<readonly NetworkKey[]>; untilMs: number } | undefined;

  const reader: NetworkReader = {
    getObjects: (ids, signal) => read((deadline) => objects.getObjects(ids, anySignal(signal, deadline))),
    networkKey: async () => newestKey(await reader.networkKeys()),
    networkKeys() {
      if (!cached || cached.untilMs <= clock.now()) {
        const keys = readNetworkKeys(network, read, reader);
        cached = { keys, untilMs: clock.now() + NETWORK_KEY_TTL_MS };
        keys.catch(() => {
          cached = undefined;
        });
      }
      return cached.keys;
    },
    async networkKeyOutput(networkKeyId) {
      const one = async (id: string): Promise<Uint8Array> => {
        const content = (await reader.getObjects([id])).get(id);
        if (content === undefined)
          throw new ServiceError("CHAIN_UNAVAILABLE", "the fullnode lacks an Ika object");
        return content;
      };
      const { objectId: coordinatorId } = network.coordinatorRef;
      // Does not use the client's cache, which keeps the first answer forever.
      const epoch = currentEpoch(await one(coordinatorInnerId(coordinatorId, await one(coordinatorId))));
      const key = parseNetworkEncryptionKey(await one(networkKeyId));
      return chooseKeyOutput(await readKeyOutputs(key, epoch, (_, ids) => reader.getObjects(ids)));
    },
    async registeredEncryptionKey(signerAddress) {
      const id = await read(() => activeEncryptionKeyId(network, signerAddress));
      if (id === undefined) return undefined;
      const content = (await read((signal) => objects.getObjects([id], signal))).get(id);
      const key = content && parseEncryptionKey(content);
      if (key === undefined || key.signerAddress === signerAddress) return key;
      throw mixedUp("key", `asked for the key of ${signerAddress}, got ${key.signerAddress}'s`);
    },
    ownedObjects: (objectIds) =>
      read(async (signal) => {
        const { objects } = await client.core.getObjects({
          objectIds: [...objectIds],
          include: { previousTransaction: true },
          signal,
        });
        const found = presentObjects(objects);
        return new Map(
          found.map(({ objectId, version, digest, previousTransaction }) => [
            objectId,
            { objectId, version, digest, lastChange: previousTransaction ?? undefined },
          ]),
        );
      }),
    async gasCoins(owner) {
      const coins: GasCoin[] = [];
      let cursor: string | null = null;
      do {
        const page: SuiClientTypes.ListCoinsResponse = await read((signal) =>
          client.core.listCoins({ owner, cursor, signal }),
        );
        for (const { objectId, version, digest, balance } of page.objects)
          coins.push({ objectId, version, digest, balanceMist: BigInt(balance) });
        cursor = page.hasNextPage ? page.cursor : null;
      } while (cursor !== null);
      return coins;
    },
    async addressBalance(owner, coinType) {
      const { balance } = await read((signal) => client.core.getBalance({ owner, coinType, signal }));
      return BigInt(balance.addressBalance);
    },
    chainIdentifier: () =>
      read(async (signal) => (await client.core.getChainIdentifier({ signal })).chainIdentifier),
    epoch: () =>
      read(async (signal) => {
        const { systemState } = await client.core.getCurrentSystemState({ signal });
        return { epoch: BigInt(systemState.epoch), gasPriceMist: BigInt(systemState.referenceGasPrice) };
      }),
    async sessionBuffer() {
      const { coordinatorInner } = await read(() => ika.ensureInitialized());
      return Number(coordinatorInner.sessions_manager.max_active_sessions_buffer);
    },
    async sessionRequest(preimage) {
      const { coordinatorInner } = await read(() => ika.ensureInitialized());
      const table = coordinatorInner.sessions_manager.registered_user_session_identifiers.id;
      const objectId = deriveDynamicFieldID(
        table,
        "vector<u8>",
        bcs.byteVector().serialize(preimage).toBytes(),
      );
      const digest = (await reader.ownedObjects([objectId])).get(objectId)?.lastChange;
      if (digest === undefined) return undefined;
      const outcome = await transaction(digest);
      if (outcome?.kind !== "landed") return undefined;
      const preimages = requestedPreimages(outcome.transaction.events);
      if (preimages.some((found) => equalBytes(found, preimage))) return outcome.transaction;
      throw mixedUp("session", `transaction ${digest} did not request the session`);
    },
    async effects(digest) {
      const found = await find(digest);
      // The genesis transaction has none on any network, although the client's types say otherwise.
      const effects: SuiClientTypes.TransactionEffects | null | undefined = (
        found?.Transaction ?? found?.FailedTransaction
      )?.effects;
      return effects ? toChanges(effects) : undefined;
    },
    transaction,
  };
  return reader;
}

/** Returns the newest key. Throws CHAIN_UNAVAILABLE if there is none. */
export function newestKey(keys: readonly NetworkKey[]): NetworkKey {
  const newest = keys.at(-1);
  if (newest === undefined) throw new ServiceError("CHAIN_UNAVAILABLE", "the network has no key");
  return newest;
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
  // The call aborts if the address has registered no key.
  return result.$kind === "Transaction" && value ? Address.parse(value) : undefined;
}

function anySignal(first: AbortSignal | undefined, second: AbortSignal): AbortSignal {
  return first ? AbortSignal.any([first, second]) : second;
}

/**
 * Reads the coordinator's network encryption keys whose DKG has ended, the oldest first. It does not use the Ika
 * client's list, which is filled key by key: a caller could see a part of it while another call still reads.
 */
export async function readNetworkKeys(
  { client, ika }: Pick<ChainNetwork, "client" | "ika">,
  read: Read,
  objects: Pick<ChainReader, "getObjects">,
): Promise<NetworkKey[]> {
  const { coordinatorInner } = await read(() => ika.ensureInitialized());
  const parentId = coordinatorInner.dwallet_network_encryption_keys.id;
  const ids: string[] = [];
  let cursor: string | null = null;
  do {
    const after: string | null = cursor;
    const page: Awaited<ReturnType<typeof client.core.listDynamicFields>> = await read((signal) =>
      client.core.listDynamicFields({ parentId, cursor: after, signal }),
    );
    for (const { childId } of page.dynamicFields) if (childId) ids.push(childId);
    if (ids.length > MAX_KEY_COUNT)
      throw new ServiceError("CHAIN_UNAVAILABLE", "the fullnode lists too many network keys");
    cursor = page.hasNextPage ? page.cursor : null;
  } while (cursor !== null);
  const contents = await objects.getObjects(ids);
  const keys = ids.map((id) => {
    const content = contents.get(id);
    if (content === undefined)
      throw new ServiceError("CHAIN_UNAVAILABLE", "the fullnode lists a network key that it lacks");
    return parseNetworkEncryptionKey(content);
  });
  return keys
    .filter(({ stateKind }) => stateKind !== "AwaitingNetworkDKG")
    .map(({ id, dkgAtEpoch }) => ({ id, epoch: Number(dkgAtEpoch) }))
    .sort((a, b) => a.epoch - b.epoch);
}

/** A network encryption key. */
export interface NetworkKey {
  readonly id: string;
  readonly epoch: number;
}

/** A network has a handful of keys. A fullnode that lists more than this never ends its list. */
const MAX_KEY_COUNT = 1_000;
