import type { TreasuryChain } from "./open-treasury-chain.ts";

/** Reads the current epoch. */
export async function readEpoch({ client }: Pick<TreasuryChain, "client">): Promise<ChainEpoch> {
  const { systemState } = await client.core.getCurrentSystemState();
  return { epoch: BigInt(systemState.epoch), startMs: Number(systemState.epochStartTimestampMs) };
}

export interface ChainEpoch {
  readonly epoch: bigint;
  readonly startMs: number;
}

/** Describes an epoch with its approximate start: `epoch 120, about 2026-12-06`. */
export function describeEpoch(wanted: bigint, { epoch, startMs }: ChainEpoch): string {
  if (wanted <= epoch) return `epoch ${wanted}, which has begun`;
  const ahead = wanted - epoch;
  if (ahead > MOST_AHEAD) return `epoch ${wanted}, years from now`;
  return `epoch ${wanted}, about ${new Date(startMs + Number(ahead) * DAY_MS).toISOString().slice(0, 10)}`;
}

/** An epoch takes about a day. */
const DAY_MS = 86_400_000;
const MOST_AHEAD = 3_650n;
