import type { ExecutionFailure } from "../../chain/outcome.ts";

/** Explains why the chain refuses a transaction, and what to do. */
export function explainFailure({ message, abort, kind }: ExecutionFailure): string {
  const known = abort && ABORTS[abort.module]?.[abort.code];
  if (known !== undefined) return `${known} (${abort?.module}, code ${abort?.code})`;
  if (abort !== undefined)
    return `the module ${abort.module || "of another package"} aborts with code ${abort.code}: ${message}`;
  return GENERAL[kind] ?? message;
}

/** Explanations by module and abort code of `move/treasury`. */
const ABORTS: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  treasury: {
    1: "the Treasury has another version than the package: after an upgrade call `tss treasury migrate` with the newest package, and pass its id with --package",
    2: "the Treasury is paused: `tss treasury unpause` ends the pause",
    3: "the OperatorCap belongs to another Treasury",
    4: "no price ceiling is set for this operation: set it with `tss treasury set-ceiling`",
    5: "the Treasury's balance is too low: `tss treasury status` shows it",
    6: "a batch has 1 to 100 sessions",
    7: "the Treasury already has this version: there is nothing to do",
    8: "the dWallet is on another curve",
  },
  operators: {
    1: "the Treasury does not know this OperatorCap: it was revoked, or belongs to another Treasury; `tss treasury status` lists the known ones",
    2: "the OperatorCap serves another address: it cannot be used by this sender",
    3: "the OperatorCap has expired: `tss treasury renew-operator` gives it a later epoch",
    4: "the operator has spent its limits of this epoch: wait for the next epoch, or raise them with `tss treasury renew-operator`",
    5: "a Treasury has at most 64 operators: revoke one first",
  },
  roles: {
    1: "this AdminCap is invalid: it belongs to another Treasury, or was replaced; `tss treasury status` shows the current one and its holder",
    2: "the sender is not the pauser: the administrator sets it with `tss treasury set-roles`",
    3: "the sender is not the recovery holder: the administrator sets it with `tss treasury set-roles`",
    4: "the administration is not offered, or not to the sender: `tss treasury status` shows a pending offer",
    5: "an offer of the recovery holder can be accepted only after seven epochs: `tss treasury status` shows when",
  },
  custody: {
    1: "the Treasury holds no capability of this dWallet: it has left, or was never here",
    2: "the Treasury holds no capability of this presign: it was used, or was never here",
    3: "the owner of the dWallet has forbidden this permanently",
    4: "nothing of this kind is announced: `tss treasury status` shows the announcements",
    5: "an announcement already exists: withdraw it first to make another one",
    6: "the delay of fourteen epochs has not passed: `tss treasury status` shows when it ends",
    7: "the signature is not the owner's, or signs another message",
    8: "the last epoch of the owner's consent has passed",
    9: "the owner's consent was already used, or is out of order",
    10: "at most 64 releases are announced at the same time: withdraw one first",
    11: "the announcement has expired, fourteen epochs after its delay: withdraw it and make it again",
  },
};

/** Explanations of failures other than aborts. */
const GENERAL: Readonly<Record<string, string>> = {
  InsufficientGas: "the gas budget is too low: raise it with --gas-budget",
  FunctionNotFound:
    "the package has no such function: check the package id, or use the version of the command that fits it",
};
