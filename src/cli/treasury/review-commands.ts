import type { bcs } from "@mysten/sui/bcs";
import { fromBase64 } from "@mysten/sui/utils";
import { packageDigest } from "../../localnet/contracts/treasury/treasury-package.ts";
import { type ParameterKind, PURE_KINDS, showAmount } from "./parameter-kinds.ts";
import { TREASURY_FUNCTIONS, type TreasuryFunction } from "./treasury-functions.ts";

/**
 * Describes each command of a program, numbered. Throws a {@link ForeignBytesError} for one unrelated to the Treasury.
 */
export function reviewCommands(program: Program, subject: ReviewSubject): string {
  const lines = program.commands.map((command, index) =>
    describeCommand(command, index, { program, subject }),
  );
  if (lines.length === 0) throw new ForeignBytesError("the transaction does nothing");
  return lines.map((text, index) => `${String(index + 1).padStart(3)}. ${text}`).join("\n");
}

/** The objects that a reviewed transaction may concern. */
export interface ReviewSubject {
  readonly network: string;
  readonly chainIdentifier: string;
  /** Undefined before a Treasury exists, so that no call of one is accepted. */
  readonly treasuryId: string | undefined;
  /** The packages of the Treasury: its first and its newest version. */
  readonly packageIds: readonly string[];
  /** The digest of the package that this version of the command publishes, in hex. */
  readonly packageDigest: string;
}

type Program = NonNullable<
  NonNullable<typeof bcs.TransactionData.$inferType.V1>["kind"]["ProgrammableTransaction"]
>;
type Command = Program["commands"][number];
type Argument = typeof bcs.Argument.$inferType;
type MoveCall = NonNullable<Command["MoveCall"]>;

interface Scope {
  readonly program: Program;
  readonly subject: ReviewSubject;
}

const FRAMEWORK = `0x${"2".padStart(64, "0")}`;
const INDENT = "\n       ";

/** The functions of Sui's framework that an upgrade calls. */
const UPGRADE_CALLS: Readonly<Record<string, string>> = {
  authorize_upgrade: "authorize the upgrade with the UpgradeCap",
  commit_upgrade: "commit the upgrade",
  make_immutable: "destroy the UpgradeCap: nobody can ever upgrade the package again",
};

function describeCommand(command: Command, index: number, scope: Scope): string {
  switch (command.$kind) {
    case "MoveCall":
      return describeCall(command.MoveCall, scope);
    case "SplitCoins": {
      const { coin, amounts } = command.SplitCoins;
      const shown = amounts.map((amount) => String(amountOf(amount, scope)));
      return `split ${shown.join(", ")} (smallest units) off ${describeCoin(coin, scope)}`;
    }
    case "MergeCoins": {
      const { destination, sources } = command.MergeCoins;
      const from = sources.map((source) => describeCoin(source, scope)).join(", ");
      return `merge ${from} into ${describeCoin(destination, scope)}`;
    }
    case "TransferObjects":
      return describeTransfer(command.TransferObjects, scope);
    case "Publish":
      return describePublish(command.Publish, scope);
    case "Upgrade": {
      const { package: packageId, modules, dependencies } = command.Upgrade;
      const digest = packageDigest({ modules, dependencies });
      const isPinned = digest === scope.subject.packageDigest;
      const what = isPinned
        ? "the Treasury's package of this version of tss"
        : "NOT the Treasury's package of this version of tss";
      requireTreasuryPackage(packageId, scope);
      return `upgrade the package ${packageId} to ${what}${INDENT}digest  ${digest}`;
    }
    default:
      throw new ForeignBytesError(
        `command ${index + 1} is ${command.$kind}, which has nothing to do with a Treasury`,
      );
  }
}

function describeCall(call: MoveCall, scope: Scope): string {
  const name = `${call.package}::${call.module}::${call.function}`;
  if (call.package === FRAMEWORK && call.module === "coin" && call.function === "zero")
    return `make an empty coin of ${call.typeArguments.join(", ")}`;
  const withdrawn = withdrawnBy(call, scope);
  if (withdrawn !== undefined)
    return `take ${withdrawn} (smallest units) of ${call.typeArguments.join(", ")} from the sender's address balance`;
  const upgrade =
    call.package === FRAMEWORK && call.module === "package" ? UPGRADE_CALLS[call.function] : undefined;
  if (upgrade !== undefined) return describeUpgradeCall(call, upgrade, scope);
  const isOfTreasury = scope.subject.packageIds.includes(call.package) && call.module === "treasury";
  const known =
    isOfTreasury && Object.hasOwn(TREASURY_FUNCTIONS, call.function)
      ? TREASURY_FUNCTIONS[call.function as keyof typeof TREASURY_FUNCTIONS]
      : undefined;
  if (known === undefined) throw new ForeignBytesError(`the transaction calls ${name}`);
  return describeTreasuryCall(call, known, scope);
}

function describeUpgradeCall(call: MoveCall, says: string, scope: Scope): string {
  const [cap] = call.arguments;
  return `${call.function}: ${says}${cap === undefined ? "" : `${INDENT}with  ${describeCoin(cap, scope)}`}`;
}

function describeTreasuryCall(call: MoveCall, { caller, says, parameters }: TreasuryFunction, scope: Scope) {
  const [treasury, ...rest] = call.arguments;
  const treasuryId = objectIdOf(treasury, scope);
  if (treasuryId === undefined || treasuryId !== scope.subject.treasuryId)
    throw new ForeignBytesError(
      `${call.function} is called on ${treasuryId ?? "no Treasury"}, not on this Treasury`,
    );
  const fields: [string, string][] = [];
  if (caller === "admin") fields.push(["AdminCap", objectIdOf(rest.shift(), scope) ?? "UNKNOWN"]);
  const entries = Object.entries(parameters);
  if (entries.length !== rest.length)
    throw new ForeignBytesError(
      `${call.function} is called with ${rest.length} values, not ${entries.length}`,
    );
  const decoded = new Map<string, unknown>();
  for (const [index, [name, kind]] of entries.entries())
    fields.push([name, showArgument(rest[index] as Argument, { name, kind, decoded, scope })]);
  if (fields.length === 0) return `${call.function}: ${says}`;
  const width = Math.max(...fields.map(([name]) => name.length));
  const shown = fields.map(([name, value]) => {
    const [first, ...more] = value.split("\n");
    return [`${name.padEnd(width)}  ${first}`, ...more.map((line) => `${" ".repeat(width)}  ${line}`)].join(
      INDENT,
    );
  });
  return `${call.function}: ${says}${INDENT}${shown.join(INDENT)}`;
}

function showArgument(
  argument: Argument,
  {
    name,
    kind,
    decoded,
    scope,
  }: { name: string; kind: ParameterKind; decoded: Map<string, unknown>; scope: Scope },
): string {
  if (kind === "received") return objectIdOf(argument, scope) ?? refuse(`${name} is not an object`);
  if (kind === "ikaCoin" || kind === "suiCoin")
    return showCoin(argument, kind === "ikaCoin" ? "IKA" : "SUI", scope);
  const bytes = pureOf(argument, scope) ?? refuse(`${name} is not a value`);
  const { codec, show } = PURE_KINDS[kind];
  let value: unknown;
  try {
    value = codec.parse(bytes);
  } catch {
    return refuse(`${name} is malformed`);
  }
  const text = (show as (value: unknown, before: ReadonlyMap<string, unknown>) => string)(value, decoded);
  decoded.set(name, value);
  return text;
}

/** Formats the amount of a deposited coin: an amount that was split off, zero, or a whole coin. */
function showCoin(argument: Argument, coin: "IKA" | "SUI", scope: Scope): string {
  const { NestedResult: nested, Result: result } = argument;
  const [at, part] = nested ?? (result === undefined ? [] : [result, 0]);
  if (at === undefined) return `the whole coin ${describeCoin(argument, scope)}`;
  const source = scope.program.commands[at];
  if (source?.MoveCall?.function === "zero") return showAmount(0n, coin);
  const withdrawn = source?.MoveCall && withdrawnBy(source.MoveCall, scope);
  if (withdrawn !== undefined) return showAmount(withdrawn, coin);
  const amount = source?.SplitCoins?.amounts[part ?? 0];
  if (amount === undefined) return refuse("a deposited coin has no source");
  return showAmount(amountOf(amount, scope), coin);
}

/** Returns the amount that a call takes from the sender's address balance; undefined for any other call. */
function withdrawnBy(call: MoveCall, { program }: Scope): bigint | undefined {
  if (call.package !== FRAMEWORK || call.module !== "coin" || call.function !== "redeem_funds")
    return undefined;
  const [argument] = call.arguments;
  const input = argument?.Input === undefined ? undefined : program.inputs[argument.Input];
  const withdrawal = input?.FundsWithdrawal;
  if (!withdrawal?.withdrawFrom.Sender)
    return refuse("the transaction takes from an address balance other than the sender's");
  return BigInt(withdrawal.reservation.MaxAmountU64);
}

function describeTransfer(
  { objects, address }: NonNullable<Command["TransferObjects"]>,
  scope: Scope,
): string {
  const isUpgradeCap = (argument: Argument): boolean => {
    const at = argument.NestedResult?.[0] ?? argument.Result;
    return at !== undefined && scope.program.commands[at]?.Publish !== undefined;
  };
  const bytes = pureOf(address, scope);
  if (bytes === undefined || !objects.every(isUpgradeCap))
    return refuse("the transaction transfers objects other than the UpgradeCap of a publication");
  return `give the UpgradeCap to an address${INDENT}to  ${PURE_KINDS.address.codec.parse(bytes)}`;
}

function describePublish({ modules, dependencies }: NonNullable<Command["Publish"]>, scope: Scope): string {
  const digest = packageDigest({ modules, dependencies });
  if (digest !== scope.subject.packageDigest)
    return refuse(
      `the transaction publishes a package with the digest ${digest}, not the Treasury's, ${scope.subject.packageDigest}`,
    );
  return `publish the Treasury's package of this version of tss${INDENT}digest  ${digest}${INDENT}it also creates the Treasury, and gives the AdminCap to the sender`;
}

function requireTreasuryPackage(packageId: string, { subject }: Scope): void {
  if (!subject.packageIds.includes(packageId))
    throw new ForeignBytesError(`the transaction upgrades the package ${packageId}, not the Treasury's`);
}

function amountOf(argument: Argument, scope: Scope): bigint {
  const bytes = pureOf(argument, scope) ?? refuse("an amount is not a value");
  return BigInt(PURE_KINDS.count.codec.parse(bytes));
}

function pureOf(argument: Argument, { program }: Scope): Uint8Array | undefined {
  const pure = argument.Input === undefined ? undefined : program.inputs[argument.Input]?.Pure;
  return pure === undefined ? undefined : fromBase64(pure.bytes);
}

function objectIdOf(argument: Argument | undefined, { program }: Scope): string | undefined {
  const object = argument?.Input === undefined ? undefined : program.inputs[argument.Input]?.Object;
  if (object === undefined || object === null) return undefined;
  return (object.SharedObject ?? object.ImmOrOwnedObject ?? object.Receiving)?.objectId;
}

function describeCoin(argument: Argument, scope: Scope): string {
  if (argument.$kind === "GasCoin") return "the gas coin";
  const at = argument.NestedResult?.[0] ?? argument.Result;
  return objectIdOf(argument, scope) ?? `the result of ${at === undefined ? "nothing" : at + 1}`;
}

function refuse(message: string): never {
  throw new ForeignBytesError(message);
}

/** Thrown for bytes that are not a transaction, or for a transaction that does anything unrelated to a Treasury. */
export class ForeignBytesError extends Error {
  override readonly name = "ForeignBytesError";
}
