import { type ClientWithCoreApi, SimulationError, type SuiClientTypes } from "@mysten/sui/client";
import { Transaction } from "@mysten/sui/transactions";
import { treasuryConsentBytes } from "../../../protocol/chain/treasury-custody.ts";
import { verifyEd25519 } from "../../../protocol/signatures/verify-ed25519.ts";
import type { Action } from "../action.ts";
import type { ClientContext } from "../context.ts";
import { TssError } from "../errors.ts";
import { type CustodyStage, notHeld, type RefuseArgs, signFor } from "./custody-within.ts";
import { readTreasuryCustody } from "./read-custody.ts";
import { addConsent, refused, treasuryOf } from "./submit-consent.ts";
import type { SignedTreasuryConsent } from "./treasury-authorization.ts";

/**
 * Rehearses an exit. The arguments contain the action's copy of the seed.
 *
 * A signed authorization would let a fullnode take the dWallet out. So the authorization is checked here, and the
 * fullnodes simulate the call with random bytes in place of the signature. The Treasury checks the signature last: if it
 * refuses nothing but that, it would accept the owner's.
 */
export async function rehearseWithin(
  context: ClientContext,
  action: Action<CustodyStage>,
  args: RehearseArgs,
): Promise<Rehearsal> {
  const { dwalletId, seed } = args;
  action.facts["dwalletId"] = dwalletId;
  action.stage("custody");
  const treasuryId = await context.treasuryId(action);
  const custody = await readTreasuryCustody(context, action, treasuryId, dwalletId);
  if (custody.held === undefined) throw notHeld(treasuryId, dwalletId);
  const { owner } = custody.held;
  const wish = { action: "leave", seed, dwalletId, recipient: owner, validForEpochs: 0 } as const;
  const { signed } = await signFor(context, action, wish, custody);
  if (!verifyEd25519(signed.publicKey, treasuryConsentBytes(signed), signed.signature))
    throw new TssError("INTERNAL", "the engine's signature of the authorization does not verify");
  action.stage("verify");
  const unsigned = { ...signed, signature: crypto.getRandomValues(new Uint8Array(SIGNATURE_LENGTH)) };
  for (const client of await context.fullnodeClients(action)) {
    const error = await simulate(client, action, unsigned, { sender: owner, packageId: args.packageId });
    if (error === undefined)
      throw new TssError("TREASURY_MISMATCH", "the Treasury accepts a signature that is not the owner's", {
        metadata: { treasuryId },
      });
    const refusal = refused(error);
    if (refusal.metadata["abort"] !== BAD_SIGNATURE) throw refusal;
  }
  return { dwalletId, treasuryId, owner, epoch: String(signed.expiresEpoch), checkedAt: new Date() };
}

/** Arguments of `rehearseLeave`. */
export interface RehearseArgs extends Omit<RefuseArgs, "validForEpochs"> {
  /** The id of the Treasury's newest package, after an upgrade. Default: the first package. */
  readonly packageId?: string | undefined;
}

/** An exit that would have succeeded. */
export interface Rehearsal {
  readonly dwalletId: string;
  readonly treasuryId: string;
  /** The Sui address of the seed's signer, which the Treasury records as the owner. */
  readonly owner: string;
  /** The Sui epoch of the rehearsal, in decimal digits. */
  readonly epoch: string;
  /** When the fullnodes answered, by the clock of this machine. */
  readonly checkedAt: Date;
}

/** Simulates the exit on one fullnode. Returns the error of its execution; undefined for a success. */
async function simulate(
  { core }: ClientWithCoreApi,
  { signal }: Action,
  consent: SignedTreasuryConsent,
  { sender, packageId }: { readonly sender: string; readonly packageId: string | undefined },
): Promise<SuiClientTypes.ExecutionError | undefined> {
  try {
    const { objects } = await core.getObjects({
      objectIds: [consent.treasuryId],
      include: { content: true },
      signal,
    });
    const treasury = treasuryOf(objects[0]);
    if (treasury === undefined) throw new Error("the fullnode has no such Treasury");
    const transaction = new Transaction();
    transaction.setSender(sender);
    transaction.setGasPayment([]);
    transaction.setGasPrice(GAS_PRICE_MIST);
    transaction.setGasBudget(GAS_BUDGET_MIST);
    transaction.setExpiration({ None: true });
    addConsent(transaction, { ...treasury, packageId: packageId ?? treasury.packageId }, consent);
    const options = { checksEnabled: false, doGasSelection: false, signal };
    const result = await core.simulateTransaction({ transaction: await transaction.build(), ...options });
    const { status } = result.Transaction ?? result.FailedTransaction;
    return status.success ? undefined : status.error;
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof SimulationError && cause.executionError !== undefined) return cause.executionError;
    throw new TssError("CHAIN_UNAVAILABLE", "the fullnode does not simulate the exit", { cause });
  }
}

const SIGNATURE_LENGTH = 64;
/** The abort of `treasury::custody` for a consent that the owner has not signed: EBadConsent. */
const BAD_SIGNATURE = "custody:7";
/** Nobody pays them: a simulation needs values that a transaction may have. */
const GAS_PRICE_MIST = 1_000n;
const GAS_BUDGET_MIST = 50_000_000n;
