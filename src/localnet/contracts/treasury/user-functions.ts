import { Ed25519PublicKey } from "@mysten/sui/keypairs/ed25519";
import { type TreasuryConsent, treasuryConsentBytes } from "../../../protocol/chain/treasury-custody.ts";
import { address, bytes, type MoveFunction, moveId, u64 } from "../../fullnode/execution/move-function.ts";
import type { NetworkAddresses } from "../addresses.ts";
import { verifyEd25519WithNode } from "../coordinator/verify-ed25519-with-node.ts";
import {
  assertDWallet,
  consentsUsed,
  countConsent,
  forgetAnnounced,
  handOver,
  heldDWallet,
  takeDWallet,
  updateDWallet,
} from "./custody.ts";
import { abortTreasury } from "./treasury-aborts.ts";
import { treasuryFunction } from "./treasury-call.ts";
import { emitTreasury } from "./treasury-events.ts";
import type { TreasuryCall } from "./treasury-state.ts";
import { assertVersion } from "./treasury-state.ts";

/** Returns the calls that carry a signature of a dWallet's owner. */
export function userFunctions(addresses: NetworkAddresses): readonly MoveFunction[] {
  return [
    treasuryFunction(addresses, {
      name: "leave",
      parameters: [moveId, bytes, address, u64, u64, bytes, bytes],
      run(call, dwalletId, chain, recipient, nonce, expiresEpoch, publicKey, signature) {
        assertVersion(call);
        const consent = { treasuryId: call.self.id, dwalletId, chain, recipient, nonce, expiresEpoch };
        useConsent(call, { action: "leave", ...consent }, publicKey, signature);
        const { cap, owner } = takeDWallet(call, dwalletId);
        handOver(cap, recipient);
        const fields = { dwallet_id: dwalletId, dwallet_cap_id: cap.id, owner, recipient };
        emitTreasury(call, "custody::DWalletLeft", fields);
      },
    }),
    treasuryFunction(addresses, {
      name: "refuse_release",
      parameters: [moveId, bytes, u64, u64, bytes, bytes],
      run(call, dwalletId, chain, nonce, expiresEpoch, publicKey, signature) {
        assertVersion(call);
        const consent = { treasuryId: call.self.id, dwalletId, chain, nonce, expiresEpoch };
        useConsent(call, { action: "refuse", ...consent }, publicKey, signature);
        updateDWallet(call, dwalletId, { is_refused: true, release: null });
        forgetAnnounced(call, dwalletId);
        const { owner } = heldDWallet(call, dwalletId);
        emitTreasury(call, "custody::ReleaseRefused", { dwallet_id: dwalletId, owner });
      },
    }),
  ];
}

function useConsent(
  call: TreasuryCall,
  consent: TreasuryConsent,
  publicKey: Uint8Array,
  signature: Uint8Array,
): void {
  const { dwalletId, nonce, expiresEpoch } = consent;
  const at = "custody::use_consent";
  assertDWallet(call, dwalletId);
  if (call.epoch > expiresEpoch) abortTreasury(call, at, "custody:Expired");
  if (nonce !== consentsUsed(call, dwalletId)) abortTreasury(call, at, "custody:WrongNonce");
  countConsent(call, dwalletId);
  const { owner } = heldDWallet(call, dwalletId);
  if (!isSignedByOwner(consent, owner, publicKey, signature)) abortTreasury(call, at, "custody:BadConsent");
}

/** Returns whether this is the owner's Ed25519 signature of the consent. */
export function isSignedByOwner(
  consent: TreasuryConsent,
  owner: string,
  publicKey: Uint8Array,
  signature: Uint8Array,
): boolean {
  if (publicKey.length !== ED25519_PUBLIC_KEY_BYTES) return false;
  if (new Ed25519PublicKey(publicKey).toSuiAddress() !== owner) return false;
  return verifyEd25519WithNode(publicKey, treasuryConsentBytes(consent), signature);
}

const ED25519_PUBLIC_KEY_BYTES = 32;
