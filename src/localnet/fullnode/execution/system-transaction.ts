import { bcs } from "@mysten/sui/bcs";
import { transactionDigest } from "../../../protocol/chain/sui-hash.ts";
import { Accumulator, accumulatorParts, addressBalance, ROOT_ID } from "../objects/address-balance.ts";
import type { Commit } from "../objects/commit.ts";
import type { Ledger, LedgerTime } from "../objects/ledger.ts";
import { encodeTransaction } from "../wire/encode-transaction.ts";
import { transactionProto } from "../wire/transaction-proto.ts";
import { buildEffects } from "./effects.ts";
import { encodeExecuted, executedTransaction } from "./executed-transaction.ts";
import { createExecutionState, type ExecutionState, type FundsChange } from "./execution-state.ts";
import { balanceChanges, sealChanges } from "./seal-changes.ts";
import type { TransactionContent } from "./transaction-data.ts";

/**
 * Creates a commit of the network itself, without signature and gas. `name` must be unique forever: it is the only input
 * of the transaction, which has no commands, so that the digest depends on it. `inputIds` are the shared objects that it writes; their versions determine the new version.
 */
export function systemCommit(
  ledger: Pick<Ledger, "objects">,
  time: LedgerTime,
  name: string,
  inputIds: readonly string[],
  work: (state: ExecutionState) => void,
): Commit {
  const content = systemContent(name);
  const bytes = encodeTransaction(content);
  const digest = transactionDigest(bytes);
  const state = createExecutionState((id) => ledger.objects.get(id), digest);
  const dependencies = new Set<string>();
  let version = 0n;
  for (const id of inputIds) {
    const input = state.find(id);
    if (input?.input === undefined) throw new Error(`system transaction needs object ${id}`);
    input.mutated = true;
    dependencies.add(input.input.previousTransaction);
    if (input.input.version > version) version = input.input.version;
  }
  work(state);
  const changes = sealChanges(state, version + 1n, digest);
  for (const { before } of changes) if (before !== undefined) dependencies.add(before.previousTransaction);
  const effects = buildEffects({
    digest,
    sender: SYSTEM_SENDER,
    epoch: time.epoch,
    lamportVersion: version + 1n,
    gasUsed: { computationCost: 0n, storageCost: 0n, storageRebate: 0n, nonRefundableStorageFee: 0n },
    gasObjectId: undefined,
    failure: undefined,
    changes,
    funds: [],
    readOnlyShared: [],
    dependencies: [...dependencies],
    events: state.events,
  });
  const frame = {
    digest,
    sender: SYSTEM_SENDER,
    transaction: transactionProto(content, bytes, digest),
    signatures: [],
  };
  const outcome = { effects, events: state.events, balanceChanges: balanceChanges(changes, []) };
  return {
    digest,
    checkpoint: time.checkpoint,
    timestampMs: time.timestampMs,
    executed: encodeExecuted(executedTransaction(frame, outcome, time)),
    written: changes.flatMap((change) => (change.after === undefined ? [] : [change.after])),
    deleted: changes.flatMap((change) => (change.after === undefined ? [change.id] : [])),
  };
}

/** The sender of the network's own transactions. */
export const SYSTEM_SENDER = `0x${"0".repeat(64)}`;

function systemContent(name: string): TransactionContent {
  return {
    sender: SYSTEM_SENDER,
    gas: { owner: SYSTEM_SENDER, price: 1n, budget: 0n, payment: [] },
    expiration: { kind: "none" },
    inputs: [{ kind: "pure", bytes: bcs.string().serialize(name).toBytes() }],
    commands: [],
  };
}

/**
 * Adds a settlement to a commit that changes address balances, as at the end of a consensus commit on Sui: a system
 * transaction in the same checkpoint, which alone writes the accumulators and deletes an empty one. Sui settles in
 * several transactions; here one does. Source: `sui-core/src/accumulators/design_docs/write_path.md`.
 */
export function withSettlement(
  ledger: Pick<Ledger, "objects">,
  time: LedgerTime,
  commit: Commit,
  funds: readonly FundsChange[],
): Commit {
  if (funds.length === 0) return commit;
  const name = `settlement/${commit.digest}`;
  const { digest, executed, written, deleted } = systemCommit(ledger, time, name, [ROOT_ID], (state) => {
    for (const { address, coinType, amount } of funds) {
      const balance = addressBalance(ledger.objects.get, address, coinType) + amount;
      if (balance < 0n) throw new Error(`the address balance of ${address} would be ${balance}`);
      const parts = accumulatorParts(address, coinType, balance);
      const accumulator = state.find(parts.id);
      if (accumulator === undefined) state.create({ ...parts, owner: { kind: "object", parentId: ROOT_ID } });
      else if (balance === 0n) state.remove(accumulator);
      else
        state.update(accumulator, Accumulator, (value) => {
          value.value = String(balance);
        });
    }
  });
  return {
    ...commit,
    written: [...commit.written, ...written],
    deleted: [...commit.deleted, ...deleted],
    settlement: { digest, executed },
  };
}
