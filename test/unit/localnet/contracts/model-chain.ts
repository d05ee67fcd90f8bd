import { toBase58 } from "@mysten/sui/utils";
import { networkAddresses } from "../../../../src/localnet/contracts/addresses.ts";
import { networkFunctions } from "../../../../src/localnet/contracts/network-functions.ts";
import { TreasuryCap, treasuryType } from "../../../../src/localnet/contracts/treasury/treasury-state.ts";
import {
  createExecutionState,
  type EmittedEvent,
  type ExecutionState,
} from "../../../../src/localnet/fullnode/execution/execution-state.ts";
import type { MoveValue } from "../../../../src/localnet/fullnode/execution/move-function.ts";
import { sealChanges } from "../../../../src/localnet/fullnode/execution/seal-changes.ts";
import { createObjectStore } from "../../../../src/localnet/fullnode/objects/object-store.ts";
import { u64Bytes } from "../../../../src/localnet/fullnode/objects/sui-types.ts";
import { genesisCommit } from "../../../../src/localnet/genesis.ts";
import { blake2b256 } from "../../../../src/protocol/chain/sui-hash.ts";

/** The sender of every transaction, who has the Treasury's caps. */
export const SENDER = `0x${"a1".repeat(32)}`;

const seed = new Uint8Array(32).fill(7);
const addresses = networkAddresses(seed, 1);
const functions = networkFunctions(addresses);
const genesis = genesisCommit({
  ...{ seed, addresses, hotWalletAddress: SENDER, accounts: [], timestampMs: 1n },
  networkKeyOutputs: { dkg: new Uint8Array(100) },
});

/** The localnet's contracts and objects, without a fullnode. */
export function createModelChain() {
  const objects = createObjectStore();
  objects.apply(genesis.written, []);
  let transactionsCount = 0n;
  let sender = SENDER;
  let epoch = 0n;

  return { addresses, objects, transact, call, createForeignCap, passEpochs, actAs };

  /** Runs one transaction, which is rolled back if it throws. Objects without a recipient go to the sender. */
  function transact<T>(work: (state: ExecutionState) => T): { result: T; events: readonly EmittedEvent[] } {
    transactionsCount += 1n;
    const digest = toBase58(blake2b256(u64Bytes(transactionsCount)));
    const state = createExecutionState((id) => objects.get(id), digest);
    const result = work(state);
    for (const object of state.touched())
      if (!object.deleted && object.mutated) object.owner ??= { kind: "address", address: sender };
    const changes = sealChanges(state, transactionsCount + 1n, digest);
    objects.apply(
      changes.flatMap(({ after }) => (after === undefined ? [] : [after])),
      changes.flatMap(({ id, after }) => (after === undefined ? [id] : [])),
    );
    return { result, events: state.events };
  }

  /** Calls a function of the Treasury. Arguments are objects and the values of pure arguments. */
  function call(state: ExecutionState, name: string, args: readonly unknown[]): readonly MoveValue[] {
    const found = functions.get(`${addresses.treasuryPackageId}::treasury::${name}`);
    if (found === undefined) throw new Error(`the model has no function ${name}`);
    return found.run({ state, sender, epoch, typeArguments: [] }, args);
  }

  /** Creates a cap of another Treasury of the same package, and returns its id. */
  function createForeignCap(name: "roles::AdminCap" | "treasury::OperatorCap"): string {
    return transact((state) => {
      const id = state.newId();
      const contents = TreasuryCap.serialize({ id, treasury_id: SENDER }).toBytes();
      return state.create({ id, type: treasuryType(addresses, name), contents }).id;
    }).result;
  }

  function passEpochs(count: number): void {
    epoch += BigInt(count);
  }

  /** Sets the sender of the next transactions. */
  function actAs(address: string): void {
    sender = address;
  }
}
