import { CoordinatorInnerDynamicField, CoordinatorModule } from "@ika.xyz/sdk";
import type { SuiGrpcClient } from "@mysten/sui/grpc";
import { coordinatorInnerId } from "../../../protocol/chain/coordinator-objects.ts";

/** Reads Ika's current prices of the operations that the Treasury pays for, and the package that serves them. */
export async function readPrices(
  client: Pick<SuiGrpcClient, "core">,
  coordinatorId: string,
): Promise<NetworkPrices> {
  const content = async (objectId: string) =>
    (await client.core.getObject({ objectId, include: { content: true } })).object.content;
  const coordinator = await content(coordinatorId);
  const inner = await content(coordinatorInnerId(coordinatorId, coordinator));
  const { pricing_and_fee_manager: pricing } = CoordinatorInnerDynamicField.parse(inner).value;
  return {
    packageId: CoordinatorModule.DWalletCoordinator.parse(coordinator).package_id,
    prices: pricing.current.pricing_map.contents
      .flatMap(({ key, value }): OperationPrice[] => {
        const operation = PRICED_OPERATIONS.find((name) => PROTOCOLS[name] === key.protocol);
        if (operation === undefined) return [];
        const signatureAlgorithm = hasAlgorithm(operation) ? (key.signature_algorithm ?? 0) : 0;
        return [{ operation, curve: key.curve, signatureAlgorithm, ...totalPrice(value) }];
      })
      .sort(byOperation),
  };
}

/** Ika's prices on one network. */
export interface NetworkPrices {
  /** The package that the coordinator accepts calls from. */
  readonly packageId: string;
  readonly prices: readonly OperationPrice[];
}

/** The operations that the Treasury pays for. The index is the operation's number in the Treasury's ceilings. */
export const PRICED_OPERATIONS = [
  "dkg",
  "presign",
  "sign",
  "share",
  "import",
  "future_sign",
  "partial_sign",
] as const;
/** One of {@link PRICED_OPERATIONS}. */
export type PricedOperation = (typeof PRICED_OPERATIONS)[number];

/** Returns false for an operation whose price depends on the curve alone. Its algorithm is 0. */
export function hasAlgorithm(operation: PricedOperation): boolean {
  return operation !== "dkg" && operation !== "share" && operation !== "import";
}

/** The price of one operation, in the smallest units. Curve and algorithm are the chain's integers. */
export interface OperationPrice {
  readonly operation: PricedOperation;
  readonly curve: number;
  /** 0 for a DKG, a share and an import, which have no algorithm. */
  readonly signatureAlgorithm: number;
  readonly ika: bigint;
  readonly sui: bigint;
}

/** Compares by operation, curve and algorithm, for sorting. */
export function byOperation(a: OperationPrice, b: OperationPrice): number {
  return (
    PRICED_OPERATIONS.indexOf(a.operation) - PRICED_OPERATIONS.indexOf(b.operation) ||
    a.curve - b.curve ||
    a.signatureAlgorithm - b.signatureAlgorithm
  );
}

/** Returns the price of one operation from an entry of the pricing map. */
export function totalPrice(value: PriceEntry["value"]): Pick<OperationPrice, "ika" | "sui"> {
  const { fee_ika, gas_fee_reimbursement_sui, gas_fee_reimbursement_sui_for_system_calls } = value;
  return {
    ika: BigInt(fee_ika),
    sui: BigInt(gas_fee_reimbursement_sui) + BigInt(gas_fee_reimbursement_sui_for_system_calls),
  };
}

/** An entry of the coordinator's pricing map. */
export type PriceEntry =
  (typeof CoordinatorInnerDynamicField.$inferType)["value"]["pricing_and_fee_manager"]["current"]["pricing_map"]["contents"][number];

/** The protocol numbers of the coordinator's pricing map. */
export const PROTOCOLS: Readonly<Record<PricedOperation, number>> = {
  dkg: 9,
  presign: 5,
  sign: 6,
  share: 2,
  import: 4,
  future_sign: 7,
  partial_sign: 8,
};
