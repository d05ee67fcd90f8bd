import { fromBase58 } from "@mysten/sui/utils";
import { type WaitTime, waitForOperation } from "../../chain/wait-for-operation.ts";
import { topics } from "../../coordination/topics.ts";
import { ServiceError } from "../../errors/service-error.ts";
import { equalBytes } from "../../protocol/bytes.ts";
import { type DWalletRow, findDWallet } from "../dwallet-row.ts";
import type { OnboardingCaller, OnboardingDeps } from "../onboarding-deps.ts";
import { checkConsent, type SignedConsent } from "./check-consent.ts";
import { type ConsentRow, newestConsent, readConsents } from "./consent-row.ts";
import { hasLeft, isLeft } from "./has-left.ts";
import { markDWalletLeft } from "./mark-left.ts";
import { queueExit } from "./queue-exits.ts";
import { readCustody } from "./read-custody.ts";
import { storeConsent } from "./store-consent.ts";

/**
 * Sends the consent of a dWallet's owner to the chain, and waits until it is final. A leave first stops new signatures
 * and lets the submitted ones end. A repeated consent returns the result of the first one. Throws DWALLET_NOT_FOUND,
 * DWALLET_NOT_ACTIVE, DWALLET_LEFT, WRONG_STATE while another consent is pending, the errors of {@link checkConsent},
 * and those of waiting for the chain.
 */
export async function useConsent(
  deps: OnboardingDeps,
  caller: OnboardingCaller,
  consent: SignedConsent,
  time: WaitTime,
): Promise<UsedConsent> {
  const dwallet = await findDWallet(deps.database, caller.projectId, consent.dwalletId);
  const id =
    (await findSame(deps, dwallet, consent)) ??
    (await accept(deps, caller, dwallet, consent)) ??
    // A concurrent call may have stored the same consent first.
    (await findSame(deps, dwallet, consent));
  if (id === undefined) throw await whyNot(deps, caller, consent.dwalletId);
  if (id === NOTHING_TO_DO) return { dwallet, txDigest: undefined };
  await waitForOperation(deps, "consent", id, time);
  const [row] = await readConsents(deps.database, [id]);
  return { dwallet, txDigest: row?.txDigest ?? undefined };
}

/** A consent that has taken effect. */
export interface UsedConsent {
  readonly dwallet: DWalletRow;
  /** Undefined if the consent had already taken effect, so the service sent nothing. */
  readonly txDigest: string | undefined;
}

/** The Treasury already refuses to release this dWallet. */
const NOTHING_TO_DO = Symbol("nothing to do");

/** Returns the id of the dWallet's newest consent if it is the same and has not failed. */
async function findSame(
  { database }: OnboardingDeps,
  dwallet: DWalletRow,
  consent: SignedConsent,
): Promise<string | undefined> {
  const row = await newestConsent(database, dwallet.id, consent.action);
  return row !== undefined && row.state !== "failed" && isSameConsent(row, consent) ? row.id : undefined;
}

/** Returns whether both are the same authorization. Another signature over the same message makes no difference. */
function isSameConsent(row: ConsentRow, consent: SignedConsent): boolean {
  return (
    row.treasuryId === consent.treasuryId &&
    row.recipient === (consent.recipient ?? null) &&
    row.nonce === consent.nonce &&
    row.expiresEpoch === consent.expiresEpoch &&
    equalBytes(row.chain, consent.chain) &&
    equalBytes(row.publicKey, consent.publicKey)
  );
}

/** Checks and stores a new consent. Returns its id, or undefined if another one is pending or the dWallet has left. */
async function accept(
  deps: OnboardingDeps,
  caller: OnboardingCaller,
  dwallet: DWalletRow,
  consent: SignedConsent,
): Promise<string | typeof NOTHING_TO_DO | undefined> {
  const { database, network, signals } = deps;
  const { treasuryId } = network.treasury;
  const { dwalletId } = consent;
  if (isLeft(dwallet.state)) return undefined;
  if (consent.action === "leave" && dwallet.state !== "Active")
    throw new ServiceError("DWALLET_NOT_ACTIVE", `the dWallet is ${dwallet.state}`, {
      metadata: { dwalletId, state: dwallet.state },
    });
  const reader = deps.readerFor(caller.projectId);
  const { held, nextNonce } = await readCustody(reader, treasuryId, dwalletId);
  if (held === undefined) {
    await markDWalletLeft(database, dwallet.id);
    return undefined;
  }
  const { epoch } = await reader.epoch();
  const chain = fromBase58(await reader.chainIdentifier());
  checkConsent(consent, { chain, treasuryId, held, nextNonce, epoch });
  if (consent.action === "refuse" && held.isRefused) return NOTHING_TO_DO;
  const id = await storeConsent(database, caller, {
    network: network.name,
    dwalletRowId: dwallet.id,
    consent,
  });
  if (id === undefined) return undefined;
  if (consent.action === "leave") {
    // Most dWallets have no open request, so their exits need not wait for the loop.
    await queueExit(database, network.name);
    signals.notify(topics.leaving(network.name));
  }
  signals.notify(topics.outbox(network.name));
  return id;
}

async function whyNot(
  { database }: OnboardingDeps,
  { projectId }: OnboardingCaller,
  dwalletId: string,
): Promise<ServiceError> {
  const { state } = await findDWallet(database, projectId, dwalletId);
  if (state === "Left") return hasLeft(dwalletId, state);
  const message = "another authorization of this dWallet's owner is pending; wait until it ends";
  return new ServiceError("WRONG_STATE", message, { metadata: { state } });
}
