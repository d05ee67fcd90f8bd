import type { Transaction, TransactionObjectArgument } from "@mysten/sui/transactions";
import type { OwnedRef } from "../../service/chain/treasury/treasury-calls.ts";
import { type ParameterKind, PURE_KINDS, type PureKind } from "./parameter-kinds.ts";
import { TREASURY_FUNCTIONS, type TreasuryFunctionName } from "./treasury-functions.ts";

/** Adds a call of the Treasury to a transaction, as {@link TREASURY_FUNCTIONS} describes it. */
export function addTreasuryCall<Name extends TreasuryFunctionName>(
  tx: Transaction,
  target: TreasuryTarget,
  name: Name,
  values: TreasuryCallValues<Name>,
): void {
  const { caller, parameters } = TREASURY_FUNCTIONS[name];
  const treasury = tx.sharedObjectRef({
    objectId: target.treasuryId,
    initialSharedVersion: target.initialSharedVersion,
    mutable: true,
  });
  const given = values as Readonly<Record<string, unknown>>;
  tx.moveCall({
    target: `${target.packageId}::treasury::${name}`,
    arguments: [
      treasury,
      ...(caller === "admin" ? [tx.objectRef(adminCapOf(target))] : []),
      ...Object.entries(parameters).map(([key, kind]) => argumentOf(tx, kind, given[key])),
    ],
  });
}

export interface TreasuryTarget {
  readonly packageId: string;
  readonly treasuryId: string;
  readonly initialSharedVersion: string;
  /** Undefined for calls without it. */
  readonly adminCap: OwnedRef | undefined;
}

export type TreasuryCallValues<Name extends TreasuryFunctionName> = ValuesOfParameters<
  (typeof TREASURY_FUNCTIONS)[Name]["parameters"]
>;

type ValuesOfParameters<P> = { readonly [K in keyof P]: P[K] extends ParameterKind ? ValueOf<P[K]> : never };

type ValueOf<K extends ParameterKind> = K extends "ikaCoin" | "suiCoin"
  ? TransactionObjectArgument
  : K extends "received"
    ? OwnedRef
    : K extends "ids"
      ? readonly string[]
      : K extends "address" | "role" | "id"
        ? string
        : K extends "bytes"
          ? Uint8Array
          : K extends "flag"
            ? boolean
            : K extends "operation" | "curve" | "algorithm"
              ? number
              : bigint;

function adminCapOf({ adminCap }: TreasuryTarget): OwnedRef {
  if (adminCap === undefined) throw new Error("the call needs an AdminCap");
  return adminCap;
}

function argumentOf(tx: Transaction, kind: ParameterKind, value: unknown) {
  if (kind === "ikaCoin" || kind === "suiCoin") return value as TransactionObjectArgument;
  if (kind === "received") return tx.receivingRef(value as OwnedRef);
  return tx.pure(encodePure(kind, value));
}

function encodePure(kind: PureKind, value: unknown): Uint8Array {
  return PURE_KINDS[kind].codec.serialize(value as never).toBytes();
}
