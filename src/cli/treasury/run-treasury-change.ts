import type { Transaction } from "@mysten/sui/transactions";
import { normalizeStructTag } from "@mysten/sui/utils";
import type { CommandContext } from "../command-line/command.ts";
import { addTreasuryCall, type TreasuryCallValues } from "./add-treasury-call.ts";
import type { ChangeValues } from "./change-options.ts";
import { chooseSigner } from "./key-files.ts";
import { type OpenTreasury, openTreasury, readOwned, reviewSubject } from "./open-treasury.ts";
import { type ChangeRun, type ExecutedChange, runChange } from "./run-change.ts";
import type { TreasuryCaller, TreasuryFunctionName } from "./treasury-functions.ts";

/** Opens the Treasury, finds the required sender, and makes the change. */
export async function runTreasuryChange(options: {
  readonly values: ChangeValues;
  readonly context: CommandContext;
  plan(treasury: OpenTreasury, context: CommandContext): PlannedChange | Promise<PlannedChange>;
}): Promise<void> {
  const { values, context, plan } = options;
  const signer = chooseSigner(values);
  const opened = await openTreasury(values, context);
  const { caller, add, next } = await plan(opened, context);
  const adminCap = caller === "admin" ? await findAdminCap(opened, values.adminCap) : undefined;
  const target = {
    packageId: opened.packageId,
    treasuryId: opened.treasuryId,
    initialSharedVersion: opened.treasury.initialSharedVersion,
    adminCap,
  };
  await runChange({
    chain: opened,
    subject: reviewSubject(opened),
    context,
    values,
    signer,
    holder: adminCap
      ? { what: "the holder of the AdminCap", address: adminCap.owner }
      : holderOf(opened, caller),
    add: (tx, sender) => add((name, given) => addTreasuryCall(tx, target, name, given), tx, sender),
    ...(next && { next }),
  });
}

/** The calls of a change. */
export interface PlannedChange {
  /** The required role of the sender. */
  readonly caller: TreasuryCaller;
  add(call: CallTreasury, tx: Transaction, sender: string): void | Promise<void>;
  /** Returns lines to print after the execution. */
  next?(executed: ExecutedChange): readonly string[];
}

/** Adds a call of the Treasury. */
export type CallTreasury = <Name extends TreasuryFunctionName>(
  name: Name,
  values: TreasuryCallValues<Name>,
) => void;

async function findAdminCap(opened: OpenTreasury, given: string | undefined) {
  const { typePackageId, adminCapId } = opened.treasury;
  const id = given ?? adminCapId;
  const cap = await readOwned(opened, id);
  if (cap === undefined || normalizeStructTag(cap.type) !== `${typePackageId}::roles::AdminCap`)
    throw new Error(`${id} is not an AdminCap of the package ${typePackageId} owned by an address`);
  return cap;
}

function holderOf({ treasury }: OpenTreasury, caller: TreasuryCaller): ChangeRun["holder"] {
  const { pauser, recovery, adminOffer: offer } = treasury;
  switch (caller) {
    case "pauser":
      if (pauser === undefined)
        throw new Error("the Treasury has no pauser: `tss treasury set-roles` sets one");
      return { what: "the pauser", address: pauser };
    case "recovery":
      if (recovery === undefined)
        throw new Error("the Treasury has no recovery holder: only the AdminCap governs it");
      return { what: "the recovery holder", address: recovery };
    case "offered":
      if (offer === undefined) throw new Error("the administration is offered to nobody");
      return { what: "the address that the administration is offered to", address: offer.to };
    default:
      return undefined;
  }
}
