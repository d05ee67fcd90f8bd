import { createRequire } from "node:module";
import { ConnectError } from "@connectrpc/connect";
import type { SuiGrpcClient } from "@mysten/sui/grpc";
import { fromConnectError, TssError } from "../../client/sdk/errors.ts";
import { parseDWallet } from "../../protocol/chain/chain-objects.ts";
import { formatDollars } from "../../protocol/price-table.ts";
import { type PaidFee, paidFees } from "../../service/chain/treasury/treasury-events.ts";
import { BUILD_INFO } from "../../service/operator/health/build-info.ts";
import { messageOf } from "../connections/unreachable-error.ts";
import { formatCoins } from "../output/format.ts";
import type { StageTime } from "./demo-steps.ts";

/** The report of `tss try`. It holds only what anyone may see, besides a last redaction of all its texts. */
export interface TryReport {
  readonly versions: Readonly<Record<string, string>>;
  readonly network: string;
  readonly startedAt: string;
  readonly engine: "own" | "reference";
  readonly stages: readonly Stage[];
}

/** One stage. Amounts are decimal strings of the smallest units. */
export interface Stage {
  readonly name: string;
  readonly status: "ok" | "failed" | "skipped";
  readonly expected: string;
  readonly seen: string;
  readonly durationMs: number;
  /** The steps of the client, with their times. */
  readonly steps?: readonly StageTime[];
  readonly ids?: Readonly<Record<string, string>>;
  readonly cost?: Cost;
  readonly transactions?: readonly TransactionEvidence[];
  readonly objects?: readonly ObjectEvidence[];
  readonly failure?: FailureEvidence;
}

/** What a stage cost. */
export interface Cost {
  /** The gas of its transactions, which may also serve other requests, in MIST. */
  readonly gasMist: string;
  /** What the Treasury paid to Ika, in the smallest units. */
  readonly ika: string;
  readonly sui: string;
  /** What the project's credit fell by, in micro-USD. */
  readonly creditMicroUsd: string;
}

export interface FailureEvidence {
  readonly reason: string;
  readonly message: string;
  readonly requestId?: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly advice?: string;
}

export interface TransactionEvidence {
  readonly digest: string;
  readonly status: string;
  readonly gasMist: string;
  /** The types of its events, in order. */
  readonly events: readonly string[];
  /** The objects that it changed. */
  readonly objects: readonly ObjectEvidence[];
}

export interface ObjectEvidence {
  readonly objectId: string;
  readonly type: string;
  readonly note?: string;
}

/** The versions that a report needs. */
export function versions(): Readonly<Record<string, string>> {
  // The package's own dependencies have exact versions.
  const { dependencies } = createRequire(import.meta.url)("threshold-signing-service/package.json") as {
    dependencies: Record<string, string>;
  };
  const { version, commit } = BUILD_INFO;
  return {
    service: commit === undefined ? version : `${version} (${commit})`,
    ...Object.fromEntries(["@ika.xyz/sdk", "@mysten/sui"].map((name) => [name, dependencies[name] ?? ""])),
    node: process.version,
    platform: `${process.platform}-${process.arch}`,
  };
}

/** Reads transactions with the types of their events and objects, and what the Treasury paid for one of these ids. */
export async function gatherTransactions(
  { core }: SuiGrpcClient,
  digests: readonly (string | null | undefined)[],
  paidIds: readonly string[],
): Promise<{ transactions: TransactionEvidence[]; fee: PaidFee; gasMist: bigint }> {
  const transactions: TransactionEvidence[] = [];
  let fee: PaidFee = { ika: 0n, sui: 0n };
  let gasMist = 0n;
  for (const digest of digests) {
    if (!digest) continue;
    const include = { effects: true, events: true, objectTypes: true } as const;
    const result = await core.waitForTransaction({ digest, include });
    const { status, effects, events, objectTypes } = result.Transaction ?? result.FailedTransaction;
    const { computationCost, storageCost, storageRebate } = effects.gasUsed;
    const gas = BigInt(computationCost) + BigInt(storageCost) - BigInt(storageRebate);
    const paid = paidFees(events.map(({ eventType: type, bcs }) => ({ type, bcs })));
    for (const id of paidIds) {
      const { ika, sui } = paid.get(id) ?? { ika: 0n, sui: 0n };
      fee = { ika: fee.ika + ika, sui: fee.sui + sui };
    }
    gasMist += gas;
    transactions.push({
      digest,
      status: status.success ? "success" : (status.error?.message ?? "failed"),
      gasMist: String(gas),
      events: events.map(({ eventType }) => eventType),
      objects: effects.changedObjects.map(({ objectId, idOperation }) => ({
        objectId,
        type: objectTypes[objectId] ?? "unknown",
        note: idOperation,
      })),
    });
  }
  return { transactions, fee, gasMist };
}

/** Reads the type of a dWallet's object, its state, and the version of its output. */
export async function readDWalletEvidence(
  { core }: SuiGrpcClient,
  dwalletId: string,
): Promise<ObjectEvidence> {
  const { object } = await core.getObject({ objectId: dwalletId, include: { content: true } });
  const { state } = parseDWallet(object.content);
  const [tag] = "publicOutput" in state ? state.publicOutput : [];
  const version = tag === undefined ? "" : `, its output of version ${tag + 1}`;
  return { objectId: dwalletId, type: object.type, note: `${state.kind}${version}` };
}

/** Describes a failure. Takes from an error only what the client promises to be free of secrets. */
export function failureOf(thrown: unknown, isReference: boolean): FailureEvidence {
  const error = thrown instanceof ConnectError ? fromConnectError(thrown) : thrown;
  if (!(error instanceof TssError)) return { reason: "UNKNOWN", message: messageOf(error), metadata: {} };
  const { reason, message, requestId, metadata } = error;
  const isRefused = REFUSED_ENGINE.has(reason) && !isReference;
  return {
    reason,
    message,
    metadata,
    ...(requestId !== undefined && { requestId }),
    ...(isRefused && { advice: REFERENCE_ADVICE }),
  };
}

/** Reasons that can mean that a verifier does not take the proofs of this package's engine. */
const REFUSED_ENGINE: ReadonlySet<string> = new Set([
  ...["NETWORK_REJECTED", "OUTPUT_MISMATCH", "SIGNATURE_INVALID", "MALFORMED_SIGN_MESSAGE", "CRYPTO_FAILED"],
]);
const REFERENCE_ADVICE =
  "the network may not take what this package's own engine computes: try again with --reference, which is the reference engine, createReferenceEngine(), in a client";

/** Formats the report for people. */
export function describeTry({ stages, network, engine }: TryReport): string {
  const lines = stages.flatMap(({ name, status, expected, seen, durationMs, cost, failure }) => [
    `${status.toUpperCase().padEnd(7)}  ${name}  ${(durationMs / 1000).toFixed(1)} s`,
    `         expected  ${expected}`,
    `         seen      ${seen}`,
    ...(cost === undefined ? [] : [`         cost      ${describeCost(cost)}`]),
    ...(failure?.advice === undefined ? [] : [`         -> ${failure.advice}`]),
  ]);
  const failed = stages.filter(({ status }) => status !== "ok").length;
  const verdict =
    failed === 0 ? `all ${stages.length} stages passed` : `${failed} of ${stages.length} stages did not pass`;
  return [...lines, "", `${network}, ${engine} engine: ${verdict}`].join("\n");
}

function describeCost({ gasMist, ika, sui, creditMicroUsd }: Cost): string {
  return [
    `gas ${formatCoins(BigInt(gasMist), "SUI")}`,
    `to Ika ${formatCoins(BigInt(ika), "IKA")} and ${formatCoins(BigInt(sui), "SUI")}`,
    `credit ${formatDollars(BigInt(creditMicroUsd))}`,
  ].join(", ");
}
