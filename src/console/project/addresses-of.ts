import type { DWallet } from "../../../gen/client/tss/v1/onboarding_pb.ts";
import { CurveSchema } from "../../../gen/client/tss/v1/types_pb.ts";
import { addressesOfKey, type NamedAddress } from "../../protocol/addresses.ts";
import { CURVES } from "../../protocol/algorithms.ts";

/**
 * Returns the addresses of a dWallet's public key, computed in the page. Empty without a key or for a malformed one.
 */
export function addressesOf({ curve, publicKey }: Pick<DWallet, "curve" | "publicKey">): NamedAddress[] {
  const name = CURVES.find((known) => known === CurveSchema.value[curve]?.name);
  if (publicKey === undefined || name === undefined) return [];
  try {
    return addressesOfKey(name, publicKey);
  } catch {
    return [];
  }
}

/** The names of the kinds of addresses, for people. */
export const addressNames: Readonly<Record<NamedAddress["kind"], string>> = {
  ethereum: "Ethereum",
  "bitcoin-p2wpkh": "Bitcoin P2WPKH",
  "bitcoin-p2tr": "Bitcoin P2TR",
  solana: "Solana",
  sui: "Sui",
  polkadot: "Substrate",
};
