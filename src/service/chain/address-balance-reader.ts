import { bcs } from "@mysten/sui/bcs";
import type { GrpcTypes } from "@mysten/sui/grpc";
import { deriveDynamicFieldID, normalizeStructTag, normalizeSuiAddress } from "@mysten/sui/utils";
import { presentObjects } from "../../protocol/chain/chain-reader.ts";
import { Address } from "../../protocol/chain/fast-bcs.ts";
import { MixedUpAnswerError } from "../../protocol/chain/read-errors.ts";
import type { ChainNetwork } from "./fullnodes/network.ts";
import { retryRead } from "./fullnodes/retry-read.ts";

/**
 * Creates a reader of address balances and of the payments to them. An address balance is an object, its accumulator,
 * which only settlements write. A settlement is a transaction of the network, in the checkpoint of the transactions
 * that it settles (`sui-core/src/accumulators/design_docs/write_path.md`). So the accumulator's versions lead from each
 * settlement to the one before it, and the settlements lead to all payments.
 */
export function createAddressBalanceReader(
  network: Pick<ChainNetwork, "client" | "backOff" | "times" | "clock">,
): AddressBalanceReader {
  const { core, ledgerService } = network.client;
  const read = retryRead(network);

  return {
    async addressBalances(owner, coinTypes) {
      const { objects } = await read((signal) =>
        core.getObjects({
          objectIds: coinTypes.map((coinType) => balanceObjectId(owner, coinType)),
          include: { content: true, previousTransaction: true },
          signal,
        }),
      );
      const found = new Map(presentObjects(objects).map((object) => [object.objectId, object]));
      return coinTypes.flatMap((coinType) => {
        const object = found.get(balanceObjectId(owner, coinType));
        if (object === undefined) return [];
        const { version, content, previousTransaction: settlement } = object;
        const accumulator = Accumulator.parse(content);
        if (accumulator.owner !== normalizeSuiAddress(owner) || !settlement)
          throw new MixedUpAnswerError(
            "coin",
            `asked for the address balance of ${owner}, got another object`,
          );
        return [{ coinType, version: BigInt(version), amount: BigInt(accumulator.value), settlement }];
      });
    },
    async settlement(digest, owner, coinType) {
      const objectId = balanceObjectId(owner, coinType);
      const settled = await read((abort) =>
        orAbsent(
          ledgerService.getTransaction({ digest, readMask: { paths: [...SETTLEMENT_MASK] } }, { abort }),
        ),
      );
      const { checkpoint, effects } = settled?.transaction ?? {};
      if (checkpoint === undefined || effects === undefined) return undefined;
      const change = effects.changedObjects.find((each) => each.objectId === objectId);
      if (change === undefined)
        throw new MixedUpAnswerError("coin", `transaction ${digest} did not settle the balance of ${owner}`);
      const payments = await paymentsBefore(checkpoint, owner, coinType);
      if (payments === undefined) return undefined;
      const { inputVersion } = change;
      if (inputVersion === undefined) return { payments, previous: undefined };
      const previous = await writerOf(objectId, inputVersion, effects.dependencies);
      return previous === undefined
        ? undefined
        : { payments, previous: { version: inputVersion, settlement: previous } };
    },
    async settlementOf(digest, owner, coinType) {
      const objectId = balanceObjectId(owner, coinType);
      const readMask = { paths: ["digest", "checkpoint"] };
      const found = await read((abort) =>
        orAbsent(ledgerService.getTransaction({ digest, readMask }, { abort })),
      );
      const checkpoint = found?.transaction?.checkpoint;
      if (checkpoint === undefined) return undefined;
      for (let ahead = 0n; ahead < CHECKPOINTS_AT_MOST; ahead++) {
        const transactions = await readCheckpoint(checkpoint + ahead, CHANGES_MASK);
        const settlement = transactions?.find(({ effects }) =>
          effects?.changedObjects.some(
            (change) => change.objectId === objectId && change.outputState !== ACCUMULATOR_WRITE,
          ),
        );
        if (settlement !== undefined) return settlement.digest;
      }
      return undefined;
    },
  };

  /**
   * Returns the payments in the checkpoint of a settlement. A large consensus commit may fill several checkpoints, of
   * which the last has the settlement, so a checkpoint without any change of this balance leads to the one before.
   */
  async function paymentsBefore(
    checkpoint: bigint,
    owner: string,
    coinType: string,
  ): Promise<string[] | undefined> {
    for (let back = 0n; back < CHECKPOINTS_AT_MOST && back <= checkpoint; back++) {
      const transactions = await readCheckpoint(checkpoint - back, PAYMENTS_MASK);
      if (transactions === undefined) return undefined;
      const changes = transactions.flatMap(({ digest = "", balanceChanges }) =>
        balanceChanges.flatMap((change) =>
          isOf(change, owner, coinType) ? [{ digest, amount: BigInt(change.amount ?? 0) }] : [],
        ),
      );
      if (changes.length > 0) return changes.filter(({ amount }) => amount > 0n).map(({ digest }) => digest);
    }
    return [];
  }

  async function readCheckpoint(
    sequenceNumber: bigint,
    paths: readonly string[],
  ): Promise<readonly GrpcTypes.ExecutedTransaction[] | undefined> {
    const checkpointId = { oneofKind: "sequenceNumber", sequenceNumber } as const;
    const found = await read((abort) =>
      orAbsent(ledgerService.getCheckpoint({ checkpointId, readMask: { paths: [...paths] } }, { abort })),
    );
    return found?.checkpoint?.transactions;
  }

  /** Returns the transaction that wrote this version, from the version if it is not pruned, else from the candidates. */
  async function writerOf(
    objectId: string,
    version: bigint,
    candidates: readonly string[],
  ): Promise<string | undefined> {
    const readMask = { paths: ["object_id", "version", "previous_transaction"] };
    const old = await read((abort) =>
      orAbsent(ledgerService.getObject({ objectId, version, readMask }, { abort })),
    );
    if (old?.object?.previousTransaction !== undefined && old.object.version === version)
      return old.object.previousTransaction;
    for (let index = 0; index < candidates.length; index += TRANSACTIONS_PER_CALL) {
      const digests = candidates.slice(index, index + TRANSACTIONS_PER_CALL);
      const { response } = await read(async (abort) =>
        ledgerService.batchGetTransactions(
          { digests, readMask: { paths: [...CHANGES_MASK_OF_ONE] } },
          { abort },
        ),
      );
      for (const { result } of response.transactions) {
        if (result.oneofKind !== "transaction") continue;
        const { digest, effects } = result.transaction;
        const wrote = effects?.changedObjects.some(
          (change) => change.objectId === objectId && change.outputVersion === version,
        );
        if (wrote === true) return digest;
      }
    }
    return undefined;
  }
}

/** Reads address balances. Throws CHAIN_UNAVAILABLE if the fullnode does not answer. */
export interface AddressBalanceReader {
  /** Returns the address's balances of these coin types outside of coins. Omits empty ones. */
  addressBalances(owner: string, coinTypes: readonly string[]): Promise<readonly AddressBalance[]>;
  /** Reads a settlement of the address's balance. Undefined if this fullnode lacks a part of it. */
  settlement(digest: string, owner: string, coinType: string): Promise<BalanceSettlement | undefined>;
  /** Returns the digest of the settlement of a transaction's change of the balance; undefined if it is not found. */
  settlementOf(digest: string, owner: string, coinType: string): Promise<string | undefined>;
}

/** The balance of an address outside of coins, in one version. */
export interface AddressBalance {
  readonly coinType: string;
  readonly version: bigint;
  /** In the coin's smallest unit. */
  readonly amount: bigint;
  /** The digest of the settlement that wrote this version. */
  readonly settlement: string;
}

/** One settlement of an address's balance. */
export interface BalanceSettlement {
  /** The digests of the settled transactions that paid the address in this coin type. */
  readonly payments: readonly string[];
  /** The version before, with its settlement; undefined if there was none. */
  readonly previous: Pick<AddressBalance, "version" | "settlement"> | undefined;
}

/** Returns the id of an accumulator (`get_field_id` in `sui-types/src/accumulator_root.rs`). */
export function balanceObjectId(owner: string, coinType: string): string {
  const key = `0x2::accumulator::Key<0x2::balance::Balance<${coinType}>>`;
  return deriveDynamicFieldID(ROOT_ID, normalizeStructTag(key), Address.serialize(owner).toBytes());
}

/** `SUI_ACCUMULATOR_ROOT_OBJECT_ID` */
const ROOT_ID = normalizeSuiAddress("0xacc");
/** `0x2::dynamic_field::Field<0x2::accumulator::Key<Balance<T>>, 0x2::accumulator::U128>` */
const Accumulator = bcs.struct("Accumulator", { id: Address, owner: Address, value: bcs.u128() });

const SETTLEMENT_MASK = ["digest", "checkpoint", "effects.changed_objects", "effects.dependencies"] as const;
const PAYMENTS_MASK = ["sequence_number", "transactions.digest", "transactions.balance_changes"] as const;
const CHANGES_MASK = [
  "sequence_number",
  "transactions.digest",
  "transactions.effects.changed_objects",
] as const;
const CHANGES_MASK_OF_ONE = ["digest", "effects.changed_objects"] as const;
const TRANSACTIONS_PER_CALL = 50;
const CHECKPOINTS_AT_MOST = 4n;
/** `OUTPUT_OBJECT_STATE_ACCUMULATOR_WRITE` of `sui.rpc.v2`: a change that a settlement applies. */
const ACCUMULATOR_WRITE = 4;

function isOf(change: GrpcTypes.BalanceChange, owner: string, coinType: string): boolean {
  return (
    normalizeSuiAddress(change.address ?? "") === owner &&
    normalizeStructTag(change.coinType ?? "0x0::none::NONE") === coinType
  );
}

const ABSENT = ["NOT_FOUND", "OUT_OF_RANGE"];

/** Returns the response, or undefined if the fullnode lacks what was asked for. */
async function orAbsent<T>(call: PromiseLike<{ readonly response: T }>): Promise<T | undefined> {
  try {
    return (await call).response;
  } catch (error) {
    if (error instanceof Error && "code" in error && ABSENT.includes(String(error.code))) return undefined;
    throw error;
  }
}
