import { toBase64 } from "@mysten/sui/utils";
import { verifyTransactionSignature } from "@mysten/sui/verify";
import { accumulatorId, addressBalance } from "../objects/address-balance.ts";
import { type ChainObject, coinBalance } from "../objects/object.ts";
import { SUI_CLOCK_ID, SUI_COIN_TYPE, SUI_TYPE } from "../objects/sui-types.ts";
import type { FundsChange } from "./execution-state.ts";
import { invalidInput, RpcFailure, Status } from "./failures.ts";
import { REFERENCE_GAS_PRICE } from "./gas.ts";
import { LIMITS } from "./limits.ts";
import type {
  Expiration,
  ObjectReference,
  PtbCommand,
  PtbInput,
  TransactionContent,
} from "./transaction-data.ts";

interface CheckContext {
  readonly lookup: (id: string) => ChainObject | undefined;
  readonly epoch: bigint;
  readonly timestampMs: bigint;
  readonly chainId: string;
  /** False for simulations without checks, which limit sizes but ignore owners. */
  readonly checkOwners: boolean;
}

/** The input objects of a checked transaction. */
export interface CheckedInputs {
  /** Empty if an address balance pays. */
  readonly gas: readonly ChainObject[];
  /** One per input of the transaction; undefined for inputs without one. */
  readonly objects: readonly (ChainObject | undefined)[];
}

/** Runs Sui's checks before execution. Throws RpcFailure for a rejected transaction, which pays nothing. */
export function checkInputs(content: TransactionContent, context: CheckContext): CheckedInputs {
  checkSizes(content);
  checkExpiration(content.expiration, context);
  const objects = content.inputs.map((input) => checkInput(input, content.sender, context));
  const gas = checkGas(content, context);
  checkReplay(content, [...objects, ...gas]);
  if (context.checkOwners) checkWithdrawals(content, context);
  const seen = new Set<string>();
  for (const object of [...objects, ...gas]) {
    if (object === undefined) continue;
    if (seen.has(object.id))
      throw invalidInput(`Mutable object ${object.id} cannot appear more than one in one transaction`);
    seen.add(object.id);
  }
  return { gas, objects };
}

/** Throws RpcFailure for a serialised transaction that is too long, including its signatures. */
export function checkTransactionSize(bytes: number): void {
  if (bytes > LIMITS.transactionBytes) {
    throw invalidInput(
      `Size limit exceeded: serialized transaction size exceeded maximum is ${LIMITS.transactionBytes}`,
    );
  }
}

function checkSizes(content: TransactionContent): void {
  if (content.commands.length >= LIMITS.commands) {
    throw sizeLimit("maximum commands in a programmable transaction", LIMITS.commands);
  }
  if (content.inputs.length > LIMITS.inputObjects) {
    throw sizeLimit("maximum input + receiving objects in a transaction", LIMITS.inputObjects);
  }
  for (const input of content.inputs) {
    if (input.kind === "pure" && input.bytes.length >= LIMITS.pureArgumentBytes) {
      throw sizeLimit("maximum pure argument size", LIMITS.pureArgumentBytes);
    }
  }
  for (const command of content.commands) {
    if (argumentCount(command) >= LIMITS.argumentsPerCommand) {
      throw sizeLimit("maximum arguments in a programmable transaction command", LIMITS.argumentsPerCommand);
    }
  }
  if (content.gas.payment.length > LIMITS.gasObjects) {
    throw sizeLimit("maximum number of gas payment objects", LIMITS.gasObjects);
  }
}

function argumentCount(command: PtbCommand): number {
  switch (command.kind) {
    case "moveCall":
      return command.arguments.length;
    case "split":
      return command.amounts.length;
    case "merge":
      return command.sources.length;
    case "transfer":
      return command.objects.length;
    case "vector":
      return command.elements.length;
    case "publish":
      return 0;
  }
}

function checkExpiration(expiration: Expiration, context: CheckContext): void {
  if (expiration.kind === "none") return;
  if (expiration.kind === "epoch") {
    if (context.epoch > expiration.epoch) throw invalidInput("The transaction has expired");
    return;
  }
  const { minEpoch, maxEpoch, minTimestampMs, maxTimestampMs, chainId } = expiration;
  if (chainId !== context.chainId) {
    throw invalidInput(`Invalid chain ID in ValidDuring: expected ${context.chainId}, got ${chainId}`);
  }
  const early =
    (minEpoch !== undefined && context.epoch < minEpoch) ||
    (minTimestampMs !== undefined && context.timestampMs < minTimestampMs);
  const late =
    (maxEpoch !== undefined && context.epoch > maxEpoch) ||
    (maxTimestampMs !== undefined && context.timestampMs > maxTimestampMs);
  if (early || late) throw invalidInput("The transaction has expired");
}

/**
 * Refuses a transaction that could execute again. A version of an owned object is used once; without one, the validity
 * must end, and the network keeps the digests of that time (`check_address_balance_replay_protection` in
 * `sui-transaction-checks`).
 */
function checkReplay(
  { expiration }: TransactionContent,
  objects: readonly (ChainObject | undefined)[],
): void {
  if (objects.some((object) => object?.owner.kind === "address")) return;
  if (expiration.kind === "during") {
    const { minEpoch, maxEpoch } = expiration;
    if (minEpoch !== undefined && maxEpoch !== undefined && maxEpoch <= minEpoch + 1n) return;
  }
  throw invalidInput(
    "Invalid transaction expiration: Transactions must either have address-owned inputs, or a ValidDuring expiration with at most two epochs of validity",
  );
}

/**
 * Returns the most that a transaction may withdraw from each address balance. A transaction without gas coins also
 * withdraws its gas budget (`process_funds_withdrawals_for_execution` in `sui-types/src/transaction.rs`).
 */
export function withdrawals({ inputs, sender, gas }: TransactionContent): readonly FundsChange[] {
  const totals = new Map<string, FundsChange>();
  const add = (address: string, coinType: string, amount: bigint) => {
    const key = `${address} ${coinType}`;
    totals.set(key, { address, coinType, amount: (totals.get(key)?.amount ?? 0n) + amount });
  };
  for (const input of inputs) {
    if (input.kind === "withdrawal")
      add(input.from === "sender" ? sender : gas.owner, input.coinType, input.amount);
  }
  if (gas.payment.length === 0) add(gas.owner, SUI_TYPE, gas.budget);
  return [...totals.values()];
}

function checkWithdrawals(content: TransactionContent, context: CheckContext): void {
  const requested = content.inputs.filter((input) => input.kind === "withdrawal");
  if (requested.length > LIMITS.withdrawals)
    throw invalidInput(
      `Invalid withdraw reservation: Maximum number of balance withdraw reservations is ${LIMITS.withdrawals}`,
    );
  if (requested.some(({ amount }) => amount === 0n))
    throw invalidInput("Invalid withdraw reservation: Balance withdraw reservation amount must be non-zero");
  for (const { address, coinType, amount } of withdrawals(content)) {
    const available = addressBalance(context.lookup, address, coinType);
    if (available < amount)
      throw invalidInput(
        `Invalid withdraw reservation: Available amount in account for object id ${accumulatorId(address, coinType)} is less than requested: ${available} < ${amount}`,
      );
  }
}

function checkInput(input: PtbInput, sender: string, context: CheckContext): ChainObject | undefined {
  switch (input.kind) {
    case "pure":
    case "withdrawal":
      return undefined;
    case "owned":
      return checkOwned(input.reference, sender, context);
    case "receiving":
      // `receive` checks later that the object was sent to the one that takes it.
      return checkOwned(input.reference, undefined, context);
    case "shared": {
      const object = context.lookup(input.objectId);
      if (object === undefined) throw notFound(input.objectId, undefined);
      if (object.owner.kind !== "shared") throw invalidInput("Object used as shared is not shared");
      if (object.owner.initialVersion !== input.initialVersion) {
        throw invalidInput("The shared object's starting version doesn't match");
      }
      if (object.id === SUI_CLOCK_ID && input.mutable) {
        throw invalidInput(`Object ${object.id} is immutable for transactions: pass the clock by reference`);
      }
      return object;
    }
  }
}

function checkOwned(
  reference: ObjectReference,
  expectedOwner: string | undefined,
  context: CheckContext,
): ChainObject {
  const { objectId, version, digest } = reference;
  const object = context.lookup(objectId);
  if (object === undefined) throw notFound(objectId, version);
  if (object.version !== version) {
    if (version > object.version) throw notFound(objectId, version);
    throw invalidInput(
      `Object ID ${objectId} Version 0x${version.toString(16)} Digest ${digest} is not available for consumption, current version: 0x${object.version.toString(16)}`,
    );
  }
  if (object.digest !== digest) {
    throw invalidInput(`Invalid Object digest for object ${objectId}. Expected digest : ${object.digest}`);
  }
  if (object.owner.kind === "shared") throw invalidInput("Object used as owned is not owned");
  if (object.owner.kind === "object") {
    throw invalidInput(
      `Object ${objectId} is owned by object ${object.owner.parentId}. Objects owned by other objects cannot be used as input arguments`,
    );
  }
  if (object.owner.kind === "immutable") return object;
  if (context.checkOwners && expectedOwner !== undefined && object.owner.address !== expectedOwner) {
    throw invalidInput(
      `Transaction was not signed by the correct sender: Object ${objectId} is owned by account address ${object.owner.address}, but given owner/signer address is ${expectedOwner}`,
    );
  }
  return object;
}

function checkGas(content: TransactionContent, context: CheckContext): ChainObject[] {
  const { payment, owner, price, budget } = content.gas;
  if (price < REFERENCE_GAS_PRICE) {
    throw invalidInput(`Gas price ${price} under reference gas price (RGP) ${REFERENCE_GAS_PRICE}`);
  }
  if (budget > LIMITS.maxGasBudget) {
    throw invalidInput(`Gas budget: ${budget} is higher than max: ${LIMITS.maxGasBudget}`);
  }
  if (budget < LIMITS.minGasBudget) {
    throw invalidInput(`Gas budget: ${budget} is lower than min: ${LIMITS.minGasBudget}`);
  }
  // Without gas coins, the payer's address balance pays.
  if (payment.length === 0) return [];
  const coins = payment.map((reference) => checkOwned(reference, owner, context));
  for (const coin of coins) {
    if (coin.type !== SUI_COIN_TYPE) throw invalidInput(`Gas object ${coin.id} is not a gas coin`);
  }
  const balance = coins.reduce((total, coin) => total + coinBalance(coin.contents), 0n);
  if (balance < budget) {
    throw invalidInput(`Balance of gas object ${balance} is lower than the needed amount: ${budget}`);
  }
  return coins;
}

function notFound(objectId: string, version: bigint | undefined) {
  const at = version === undefined ? "None" : `Some(SequenceNumber(${version}))`;
  return invalidInput(`Could not find the referenced object ${objectId} at version ${at}`);
}

function sizeLimit(limit: string, value: number) {
  return invalidInput(`Size limit exceeded: ${limit} is ${value}`);
}

/**
 * Checks that exactly the sender and the gas owner signed these transaction bytes. Throws RpcFailure INVALID_ARGUMENT
 * with the same messages as Sui.
 */
export async function checkSignatures(
  bytes: Uint8Array,
  signatures: readonly Uint8Array[],
  required: readonly string[],
): Promise<void> {
  const signers = new Set(required);
  if (signatures.length !== signers.size) {
    throw refused(`Expect ${signers.size} signer signatures but got ${signatures.length}`);
  }
  const present = new Set<string>();
  for (const signature of signatures) present.add(await signerOf(bytes, signature));
  for (const signer of signers) {
    if (!present.has(signer)) {
      throw refused(`Required Signature from ${signer} is absent [${[...present].join(", ")}]`);
    }
  }
}

async function signerOf(bytes: Uint8Array, signature: Uint8Array): Promise<string> {
  try {
    const publicKey = await verifyTransactionSignature(bytes, toBase64(signature));
    return publicKey.toSuiAddress();
  } catch (error) {
    throw refused(`Signature is not valid: ${(error as Error).message}`);
  }
}

function refused(reason: string): RpcFailure {
  return new RpcFailure(Status.InvalidArgument, `Invalid user signature: ${reason}`);
}
