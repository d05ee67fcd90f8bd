import type { Signer } from "@mysten/sui/cryptography";
import type { OperationFailure } from "../../chain/operation.ts";
import type { Secret } from "../../telemetry/secret.ts";
import { deriveDepositKey } from "../deposits/deposit-key.ts";

/** The key of a project's deposit address, derived on each call; undefined without a configured master seed. */
export type DepositSigner = (projectId: string) => Signer | undefined;

/** Signs for the deposit addresses of one network. */
export function createDepositSigner(
  masterSeed: Secret<Uint8Array> | undefined,
  network: string,
): DepositSigner {
  return (projectId) => masterSeed && deriveDepositKey(masterSeed, network, projectId);
}

/** The owner of the coins. */
export interface SweptAddress {
  readonly projectId: string;
  readonly address: string;
}

/** The reason why this service cannot sign for the address, if any. */
export function signerObstacle(
  signerOf: DepositSigner,
  { projectId, address }: SweptAddress,
): OperationFailure | undefined {
  const signer = signerOf(projectId);
  if (signer === undefined) {
    return { reason: "DEPOSIT_SEED_MISSING", message: "BILLING_DEPOSIT_MASTER_SEED_HEX is not configured" };
  }
  if (signer.toSuiAddress() === address) return undefined;
  return {
    reason: "DEPOSIT_SEED_CHANGED",
    message: `BILLING_DEPOSIT_MASTER_SEED_HEX is not the seed of the deposit address ${address}`,
  };
}
