import { bcs } from "@mysten/sui/bcs";
import { U64 } from "../../../protocol/chain/fast-bcs.ts";
import type { Price, PricedCall } from "../../call-prices.ts";
import { SUPPORTED_ALGORITHMS, SUPPORTED_CURVES } from "./support.ts";

/** Returns the entries of a new network's pricing map: one for each session that a user can open. */
export function networkPricing(): PricingEntry[] {
  return [
    ...SUPPORTED_CURVES.flatMap((curve) => CURVE_PROTOCOLS.map((protocol) => entry(curve, null, protocol))),
    ...SUPPORTED_ALGORITHMS.flatMap(({ curve, signatureAlgorithm }) =>
      ALGORITHM_PROTOCOLS.map((protocol) => entry(curve, signatureAlgorithm, protocol)),
    ),
  ];
}

/** Encodes `pricing::PricingInfo`, which the SDK does not export. */
export const PricingInfo = bcs.struct("PricingInfo", {
  contents: bcs.vector(
    bcs.struct("Entry", {
      key: bcs.struct("PricingInfoKey", {
        curve: bcs.u32(),
        signature_algorithm: bcs.option(bcs.u32()),
        protocol: bcs.u32(),
      }),
      value: bcs.struct("PricingInfoValue", {
        fee_ika: U64,
        gas_fee_reimbursement_sui: U64,
        gas_fee_reimbursement_sui_for_system_calls: U64,
      }),
    }),
  ),
});

/** An entry of `pricing::PricingInfo`. */
export interface PricingEntry {
  readonly key: {
    readonly curve: number;
    readonly signature_algorithm: number | null;
    readonly protocol: number;
  };
  readonly value: {
    fee_ika: string;
    gas_fee_reimbursement_sui: string;
    gas_fee_reimbursement_sui_for_system_calls: string;
  };
}

/** The protocol numbers of the pricing map. */
export const Protocol = {
  ReEncryption: 2,
  PublicShare: 3,
  ImportedKey: 4,
  Presign: 5,
  Sign: 6,
  FutureSign: 7,
  SignWithPartialSignature: 8,
  DwalletDkg: 9,
  DkgWithSign: 10,
} as const;

type ProtocolNumber = (typeof Protocol)[keyof typeof Protocol];

/** The protocols that have one price per curve. */
const CURVE_PROTOCOLS = [
  Protocol.ReEncryption,
  Protocol.PublicShare,
  Protocol.ImportedKey,
  Protocol.DwalletDkg,
] as const;

/** The protocols that have one price per curve and signature algorithm. */
const ALGORITHM_PROTOCOLS = [
  Protocol.Presign,
  Protocol.Sign,
  Protocol.FutureSign,
  Protocol.SignWithPartialSignature,
  Protocol.DkgWithSign,
] as const;

/** The price of each protocol, in the smallest units of IKA and SUI. */
const PRICES: Readonly<Record<ProtocolNumber, Price>> = {
  [Protocol.ReEncryption]: { ika: 10_000_000n, sui: 3_000_000n },
  [Protocol.PublicShare]: { ika: 5_000_000n, sui: 2_000_000n },
  [Protocol.ImportedKey]: { ika: 30_000_000n, sui: 4_000_000n },
  [Protocol.Presign]: { ika: 5_000_000n, sui: 2_000_000n },
  [Protocol.Sign]: { ika: 10_000_000n, sui: 2_000_000n },
  [Protocol.FutureSign]: { ika: 8_000_000n, sui: 2_000_000n },
  [Protocol.SignWithPartialSignature]: { ika: 6_000_000n, sui: 2_000_000n },
  [Protocol.DwalletDkg]: { ika: 30_000_000n, sui: 4_000_000n },
  [Protocol.DkgWithSign]: { ika: 38_000_000n, sui: 5_000_000n },
};

/** The protocols of calls by the names that options use. */
export const PROTOCOL_OF_CALL: Readonly<Record<PricedCall, ProtocolNumber>> = {
  dkg: Protocol.DwalletDkg,
  "dkg-with-sign": Protocol.DkgWithSign,
  "imported-key": Protocol.ImportedKey,
  presign: Protocol.Presign,
  sign: Protocol.Sign,
  "future-sign": Protocol.FutureSign,
  "sign-with-partial": Protocol.SignWithPartialSignature,
  "re-encryption": Protocol.ReEncryption,
  "public-share": Protocol.PublicShare,
};

/** The part of every price that pays for the network's own transactions. */
const SYSTEM_CALLS_SUI = 1_000_000n;

function entry(curve: number, signatureAlgorithm: number | null, protocol: ProtocolNumber): PricingEntry {
  const { ika, sui } = PRICES[protocol];
  return {
    key: { curve, signature_algorithm: signatureAlgorithm, protocol },
    value: {
      fee_ika: ika.toString(),
      gas_fee_reimbursement_sui: sui.toString(),
      gas_fee_reimbursement_sui_for_system_calls: SYSTEM_CALLS_SUI.toString(),
    },
  };
}
