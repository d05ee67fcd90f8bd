import {
  type PriceCeiling,
  type PriceCeiling_Operation,
  PriceCeiling_OperationSchema,
} from "../../../../gen/client/tss/v1/admin_pb.ts";
import type { DataColumn } from "../../design/table/data-table.tsx";
import { Coin } from "../../design/value/coin.tsx";
import { enumName } from "../../format/text.ts";

/** The curves and algorithms of an operation that share one ceiling. */
export interface CeilingGroup extends Pick<PriceCeiling, "maxIka" | "maxSuiMist"> {
  readonly operation: PriceCeiling_Operation;
  /** Such as `Taproot`, or the curve of an operation without an algorithm. */
  readonly names: readonly string[];
}

/** Joins the ceilings of an operation that are equal. The Treasury has one for each curve and algorithm. */
export function groupCeilings(ceilings: readonly PriceCeiling[]): readonly CeilingGroup[] {
  const groups = new Map<string, CeilingGroup>();
  for (const ceiling of ceilings) {
    const { operation, maxIka, maxSuiMist } = ceiling;
    const key = [operation, maxIka, maxSuiMist].join(":");
    const names = [...(groups.get(key)?.names ?? []), nameOf(ceiling)];
    groups.set(key, { operation, maxIka, maxSuiMist, names });
  }
  return [...groups.values()];
}

function nameOf(ceiling: PriceCeiling): string {
  const { curve, curveName, signatureAlgorithm, signatureAlgorithmName } = ceiling;
  if (signatureAlgorithm === undefined) return curveName || `${curve}`;
  return signatureAlgorithmName || `${signatureAlgorithm}`;
}

export const CEILING_COLUMNS: readonly DataColumn<CeilingGroup>[] = [
  { title: "Operation", cell: ({ operation }) => enumName(PriceCeiling_OperationSchema, operation) },
  { title: "For", cell: ({ names }) => names.join(", ") },
  { title: "IKA", isNumber: true, cell: ({ maxIka }) => <Coin amount={maxIka} symbol="IKA" /> },
  { title: "SUI", isNumber: true, cell: ({ maxSuiMist }) => <Coin amount={maxSuiMist} symbol="SUI" /> },
];
