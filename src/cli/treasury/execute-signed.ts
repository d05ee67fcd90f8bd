import { TransactionDataBuilder } from "@mysten/sui/transactions";
import { type TransactionResult, toFailure } from "../../chain/outcome.ts";
import type { CommandContext } from "../command.ts";
import { messageOf } from "../failure.ts";
import { formatPairs } from "../table.ts";
import { explainFailure } from "./explain-abort.ts";
import type { TreasuryChain } from "./open-treasury-chain.ts";
import { showAmount } from "./parameter-kinds.ts";

/**
 * Sends a signed transaction and waits until the fullnode shows its effects. If it fails or its outcome is unknown,
 * throws an error that names the digest.
 */
export async function executeSigned(
  { client }: Pick<TreasuryChain, "client">,
  transaction: Uint8Array,
  signatures: string[],
  { note }: Pick<CommandContext, "note">,
): Promise<ExecutedChange> {
  const digest = TransactionDataBuilder.getDigestFromBytes(transaction);
  // Printed first, so that the operator can look the transaction up if this process dies before the reply.
  note(`sending the transaction ${digest}`);
  const include = { effects: true, events: true, objectTypes: true } as const;
  let result: TransactionResult & { readonly $kind: string };
  try {
    result = await client.core.executeTransaction({ transaction, signatures, include });
  } catch (cause) {
    const found = await client.core.getTransaction({ digest, include }).catch(() => undefined);
    if (found === undefined)
      throw new Error(
        `the fullnode did not confirm the transaction ${digest}: ${messageOf(cause)}. Look for this digest in an explorer before you repeat anything`,
        { cause },
      );
    result = found;
  }
  const { status, effects, events } = result.Transaction ?? result.FailedTransaction;
  if (!status.success)
    throw new Error(
      `the transaction ${digest} failed on the chain: ${explainFailure(toFailure(status.error))}`,
    );
  // The transaction is already final, but the next command may have to read it from this fullnode.
  await client.core
    .waitForTransaction({ digest, timeout: WAIT_MS })
    .catch(() => note("it is executed, but the fullnode does not show it yet: wait before the next command"));
  const types = typesOf(result);
  const { computationCost, storageCost, storageRebate } = effects.gasUsed;
  return {
    digest,
    gasMist: BigInt(computationCost) + BigInt(storageCost) - BigInt(storageRebate),
    events: events.map(({ eventType, bcs }) => ({ type: eventType, bcs })),
    created: effects.changedObjects
      .filter(({ idOperation }) => idOperation === "Created")
      .map(({ objectId, outputOwner, outputState }) => ({
        id: objectId,
        type: outputState === "PackageWrite" ? "package" : (types[objectId] ?? ""),
        owner: outputOwner?.AddressOwner,
      })),
  };
}

/** The effects of an executed transaction. */
export interface ExecutedChange {
  readonly digest: string;
  readonly gasMist: bigint;
  readonly events: readonly { readonly type: string; readonly bcs: Uint8Array }[];
  readonly created: readonly CreatedObject[];
}

export interface CreatedObject {
  readonly id: string;
  /** The Move type, or "package". */
  readonly type: string;
  /** Undefined if no address owns it. */
  readonly owner: string | undefined;
}

/** Describes the effects of an executed transaction. */
export function describeExecuted({ digest, gasMist, events, created }: ExecutedChange): string {
  const counts = new Map<string, number>();
  for (const { type } of events) {
    const name = type.split("::").at(-1) ?? type;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const shown = [...counts].map(([name, count]) => (count === 1 ? name : `${name} (${count} times)`));
  return `\n${formatPairs([
    ["executed", digest],
    ["gas", gasMist < 0n ? `${showAmount(-gasMist, "SUI")} refunded` : showAmount(gasMist, "SUI")],
    ["events", shown.join(", ")],
    ...NAMED.flatMap((name) => created.filter(({ type }) => type.endsWith(name))).map(
      ({ id, type, owner }): [string, string] => [
        `new ${type.split("::").at(-1)}`,
        owner === undefined ? id : `${id}, held by ${owner}`,
      ],
    ),
  ])}`;
}

const WAIT_MS = 60_000;
const NAMED = ["package", "::Treasury", "::AdminCap", "::OperatorCap", "::UpgradeCap"];

function typesOf(result: object): Readonly<Record<string, string>> {
  const { Transaction: transaction } = result as { Transaction?: { objectTypes?: Record<string, string> } };
  return transaction?.objectTypes ?? {};
}
