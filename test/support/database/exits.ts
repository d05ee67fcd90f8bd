import { bcs } from "@mysten/sui/bcs";
import type { SuiGrpcClient } from "@mysten/sui/grpc";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { Transaction } from "@mysten/sui/transactions";
import { fromBase58 } from "@mysten/sui/utils";
import { type TreasuryConsent, treasuryConsentBytes } from "../../../src/protocol/chain/treasury-custody.ts";
import type { SignedConsent } from "../../../src/service/onboarding/custody/consents.ts";

/** The chain that an exit happens on. */
export interface ExitChain {
  readonly client: SuiGrpcClient;
  readonly treasury: { readonly packageId: string; readonly treasuryId: string };
}

/** The part of {@link ExitChain} that {@link signConsent} uses. */
export interface ConsentChain {
  readonly client: { readonly core: Pick<SuiGrpcClient["core"], "getChainIdentifier"> };
  readonly treasury: Pick<ExitChain["treasury"], "treasuryId">;
}

/** Signs a consent as the owner of a dWallet. By default it leaves to the owner's own address. */
export async function signConsent(
  chain: ConsentChain,
  owner: Ed25519Keypair,
  consent: { readonly dwalletId: string } & Partial<TreasuryConsent>,
): Promise<SignedConsent> {
  const { chainIdentifier } = await chain.client.core.getChainIdentifier();
  const action = consent.action ?? "leave";
  const whole: TreasuryConsent = {
    action,
    chain: fromBase58(chainIdentifier),
    treasuryId: chain.treasury.treasuryId,
    nonce: 0n,
    expiresEpoch: 1_000n,
    ...(action === "leave" && { recipient: owner.toSuiAddress() }),
    ...consent,
  };
  return {
    ...whole,
    publicKey: owner.getPublicKey().toRawBytes(),
    signature: await owner.sign(treasuryConsentBytes(whole)),
  };
}

/** Sends a consent with a separate key, without any service. Returns the digest, or the abort as `module:code`. */
export async function sendConsent(
  chain: ExitChain,
  faucetUrl: string,
  consent: SignedConsent,
): Promise<{ readonly digest: string } | { readonly abort: string }> {
  const signer = Ed25519Keypair.generate();
  const given = await fetch(new URL("/v2/gas", faucetUrl), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ FixedAmountRequest: { recipient: signer.toSuiAddress() } }),
  });
  if (!given.ok) throw new Error(`the faucet answers with ${given.status}`);
  const transaction = new Transaction();
  transaction.setSender(signer.toSuiAddress());
  transaction.setGasBudget(50_000_000n);
  const bytes = (value: Uint8Array) => transaction.pure(bcs.byteVector().serialize(value));
  const { action, recipient } = consent;
  transaction.moveCall({
    target: `${chain.treasury.packageId}::treasury::${action === "leave" ? "leave" : "refuse_release"}`,
    arguments: [
      transaction.object(chain.treasury.treasuryId),
      transaction.pure.id(consent.dwalletId),
      bytes(consent.chain),
      ...(recipient === undefined ? [] : [transaction.pure.address(recipient)]),
      transaction.pure.u64(consent.nonce),
      transaction.pure.u64(consent.expiresEpoch),
      bytes(consent.publicKey),
      bytes(consent.signature),
    ],
  });
  const result = await chain.client.signAndExecuteTransaction({
    transaction,
    signer,
    include: { effects: true },
  });
  const { digest, status } = result.Transaction ?? result.FailedTransaction;
  if (status.success) return { digest };
  const abort = status.error.MoveAbort;
  return { abort: `${abort?.location?.module}:${abort?.abortCode}` };
}

/** The address that owns an object; undefined if none does. */
export async function ownerOf(
  { client }: Pick<ExitChain, "client">,
  objectId: string,
): Promise<string | undefined> {
  const { object } = await client.core.getObject({ objectId });
  return object.owner.$kind === "AddressOwner" ? object.owner.AddressOwner : undefined;
}
