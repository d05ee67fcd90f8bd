import type { Signer } from "@mysten/sui/cryptography";
import type { OperationFailure } from "../../chain/operation.ts";
import type { Secret } from "../../platform/telemetry/secret.ts";
import { type DepositOwner, deriveDepositKey } from "../deposits/request-address.ts";

/** Derives the key of a deposit address on each call. Returns undefined without a configured master seed. */
export type DepositSigner = (owner: DepositOwner) => Signer | undefined;

/** Creates a signer for the deposit addresses of one network. */
export function createDepositSigner(
  masterSeed: Secret<Uint8Array> | undefined,
  network: string,
): DepositSigner {
  return (owner) => masterSeed && deriveDepositKey(masterSeed, network, owner);
}

/** The owner of the coins. */
export interface SweptAddress extends DepositOwner {
  readonly address: string;
}

/** Returns the reason why this service cannot sign for the address, if any. */
export function signerObstacle(signerOf: DepositSigner, swept: SweptAddress): OperationFailure | undefined {
  const { address } = swept;
  const signer = signerOf(swept);
  if (signer === undefined) {
    return { reason: "DEPOSIT_SEED_MISSING", message: "BILLING_DEPOSIT_MASTER_SEED_HEX is not configured" };
  }
  if (signer.toSuiAddress() === address) return undefined;
  return {
    reason: "DEPOSIT_SEED_CHANGED",
    message: `BILLING_DEPOSIT_MASTER_SEED_HEX is not the seed of the deposit address ${address}`,
  };
}
