import { normalizeSuiAddress } from "@mysten/sui/utils";
import { NETWORK_NAMES, type NetworkName } from "../../service/config/network.ts";
import {
  addressOnSui,
  choiceOf,
  flag,
  fullnodeUrl,
  nonEmptyText,
  objectId,
  optional,
  WrongValue,
} from "../command-line/option.ts";

/** The options that select a command's chain and Treasury. */
export const TARGET_OPTIONS = {
  network: optional("<network>", "the network; default the one of NETWORKS", choiceOf(NETWORK_NAMES)),
  fullnode: optional("<url>", "the fullnode; default the configured one, else Sui's public one", fullnodeUrl),
  treasury: optional("<id>", "the Treasury; default the configured one", objectId),
  package: optional("<id>", "the newest version of its package; default the configured one", objectId),
};

/** The values of {@link TARGET_OPTIONS}. */
export interface TargetValues {
  readonly network: NetworkName | undefined;
  readonly fullnode: string | undefined;
  readonly treasury: string | undefined;
  readonly package: string | undefined;
}

/** The options of every command that changes something on the chain. */
export const CHANGE_OPTIONS = {
  ...TARGET_OPTIONS,
  keyFile: optional(
    "<file>",
    "sign with the key in this file: suiprivkey1... or 64 hex digits, mode 0600",
    nonEmptyText,
  ),
  unsigned: optional("<file>", "write the unsigned bytes to this new file, for a multisig", nonEmptyText),
  sender: optional(
    "<address>",
    "without --key-file: the sender; default the holder of the role",
    fullAddress,
  ),
  adminCap: optional("<id>", "the AdminCap; default the current one", objectId),
  gasBudget: optional("<sui>", "the gas budget; default the result of a dry run", coins),
  yes: flag("continue without asking"),
  dryRun: flag("only show what would happen"),
};

/** The values of {@link CHANGE_OPTIONS}. */
export interface ChangeValues extends TargetValues {
  readonly keyFile: string | undefined;
  readonly unsigned: string | undefined;
  readonly sender: string | undefined;
  readonly adminCap: string | undefined;
  readonly gasBudget: bigint | undefined;
  readonly yes: boolean;
  readonly dryRun: boolean;
}

/** Parses an amount of a coin with nine decimals, such as 12.5, into its smallest units. */
export function coins(value: string): bigint {
  const [, whole, decimals = ""] = /^(\d{1,10})(?:\.(\d{1,9}))?$/.exec(value) ?? [];
  if (whole === undefined) throw new WrongValue("takes an amount of coins, such as 12.5");
  const amount = BigInt(whole + decimals.padEnd(DECIMALS, "0"));
  if (amount > MOST) throw new WrongValue("takes an amount that the chain can hold");
  return amount;
}

/** Parses a Sui address, and returns it with leading zeros. */
export function fullAddress(value: string): string {
  return normalizeSuiAddress(addressOnSui(value));
}

const DECIMALS = 9;
const MOST = 2n ** 64n - 1n;
