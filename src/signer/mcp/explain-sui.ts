import { bcs } from "@mysten/sui/bcs";
import { fromBase64 } from "@mysten/sui/utils";
import { U64 } from "../../protocol/chain/fast-bcs.ts";
import type { Explanation } from "./explanation.ts";
import { McpError } from "./mcp-error.ts";
import { untrusted } from "./untrusted.ts";

/** Explains a transaction of Sui, the BCS of `TransactionData`. Throws McpError VALIDATION if it is none. */
export function explainSui(octets: Uint8Array): Explanation {
  const { sender, gasData, kind } = parse(octets);
  const { budget, owner } = gasData;
  const words = [
    `${sender} sends it.`,
    owner === sender
      ? `The fee is at most ${sui(budget)}.`
      : `${owner} pays the fee, which is at most ${sui(budget)}.`,
  ];
  const block = kind.ProgrammableTransaction;
  if (block === undefined)
    throw new McpError("VALIDATION", "payload: is a transaction that only a validator makes");
  const warnings: string[] = [];
  const calls: string[] = [];
  for (const input of block.inputs)
    if (input.FundsWithdrawal) words.push(explainWithdrawal(input.FundsWithdrawal));
  for (const command of block.commands.slice(0, MAX_SHOWN))
    words.push(explainCommand(command, block, { warnings, calls }));
  if (block.commands.length > MAX_SHOWN)
    warnings.push(`${block.commands.length - MAX_SHOWN} more commands are not explained.`);
  return { words, warnings, content: calls.length > 0 ? untrusted(calls.join(", ")) : undefined };
}

type Data = NonNullable<(typeof bcs.TransactionData)["$inferType"]["V1"]>;
type Block = NonNullable<Data["kind"]["ProgrammableTransaction"]>;
type Command = Block["commands"][number];
type Argument = (typeof bcs.Argument)["$inferType"];
type Withdrawal = NonNullable<Block["inputs"][number]["FundsWithdrawal"]>;

const MAX_SHOWN = 64;
const MAX_LISTED = 8;

/** A command can have hundreds of arguments. */
function listOf(all: readonly string[]): string {
  const more = all.length > MAX_LISTED ? ` and ${all.length - MAX_LISTED} more` : "";
  return `${all.slice(0, MAX_LISTED).join(", ")}${more}`;
}

function parse(octets: Uint8Array): Data {
  try {
    return bcs.TransactionData.parse(octets).V1;
  } catch {
    throw new McpError("VALIDATION", "payload: is not the BCS of a transaction of Sui");
  }
}

/** Explains a command. Adds what needs a warning, and the names of functions, which the payload's author has chosen. */
function explainCommand(
  command: Command,
  { inputs }: Block,
  { warnings, calls }: { readonly warnings: string[]; readonly calls: string[] },
): string {
  const show = (argument: Argument): string => shown(argument, inputs);
  if (command.SplitCoins) {
    const { coin, amounts } = command.SplitCoins;
    const values = amounts.map((amount) => {
      const value = pureOf(amount, inputs);
      if (value?.length !== 8) return "an amount that a command computes";
      const units = BigInt(U64.parse(value));
      return coin.GasCoin ? sui(units) : `${units} smallest units`;
    });
    return `Splits ${listOf(values)} from ${show(coin)}.`;
  }
  if (command.TransferObjects) {
    const { objects, address } = command.TransferObjects;
    const recipient = pureOf(address, inputs);
    const to = recipient?.length === 32 ? bcs.Address.parse(recipient) : "an address that a command computes";
    if (objects.some(({ GasCoin }) => GasCoin)) warnings.push("It gives away the WHOLE gas coin.");
    if (objects.some(({ Input }) => Input !== undefined))
      warnings.push("It gives away whole objects; look up what they are.");
    return `Transfers ${listOf(objects.map(show))} to ${to}.`;
  }
  if (command.MergeCoins) {
    const { destination, sources } = command.MergeCoins;
    return `Merges ${listOf(sources.map(show))} into ${show(destination)}.`;
  }
  if (command.MakeMoveVec) return `Makes a list of ${command.MakeMoveVec.elements.length} values.`;
  if (command.MoveCall) {
    const { package: id, module, function: name, arguments: passed } = command.MoveCall;
    warnings.push(`Nobody can tell what the call of the package ${id} does without its code.`);
    calls.push(`${id}::${module}::${name}`);
    return `Calls a function of the package ${id} with ${listOf(passed.map(show)) || "no arguments"}.`;
  }
  if (command.Publish) {
    warnings.push("It publishes code.");
    return `Publishes a package of ${command.Publish.modules.length} modules.`;
  }
  if (command.Upgrade) {
    warnings.push("It replaces the code of a package.");
    return `Upgrades the package ${command.Upgrade.package}.`;
  }
  warnings.push("It has a command that this server does not know.");
  return "Does something that this server does not know.";
}

function explainWithdrawal({ reservation, withdrawFrom }: Withdrawal): string {
  const from = withdrawFrom.Sponsor ? "the balance of who pays the fee" : "the sender's balance";
  return `Withdraws up to ${reservation.MaxAmountU64} smallest units of a coin from ${from}.`;
}

/** Returns the octets of an input that is a plain value. */
function pureOf(argument: Argument, inputs: Block["inputs"]): Uint8Array | undefined {
  const pure = argument.Input === undefined ? undefined : inputs[argument.Input]?.Pure;
  return pure && fromBase64(pure.bytes);
}

function shown(argument: Argument, inputs: Block["inputs"]): string {
  if (argument.GasCoin) return "the gas coin";
  if (argument.Result !== undefined) return `the result of command ${argument.Result + 1}`;
  if (argument.NestedResult !== undefined) {
    const [command, index] = argument.NestedResult;
    return `result ${index + 1} of command ${command + 1}`;
  }
  const { Object: object, FundsWithdrawal: withdrawal } = inputs[argument.Input ?? -1] ?? {};
  const id =
    object?.ImmOrOwnedObject?.objectId ?? object?.SharedObject?.objectId ?? object?.Receiving?.objectId;
  if (id !== undefined) return `the object ${id}`;
  return withdrawal ? "the withdrawal" : "a value";
}

function sui(mist: bigint | string): string {
  const amount = BigInt(mist);
  const digits = amount.toString().padStart(10, "0");
  return `${digits.slice(0, -9)}.${digits.slice(-9)} SUI (${amount} MIST)`;
}
