import type { FuzzCase } from "./fuzz-case.ts";
import { makeCase } from "./make-case.ts";
import { runBatch } from "./run-batch.ts";

/** The number of cases that share a server. */
const BATCH_COUNT = 1_250;
/** Every batch with a number divisible by this goes to a port with TLS. */
const TLS_EVERY = 4;

/** A violated guarantee, and the cases that reproduce it. */
export interface FuzzFault {
  /** One case if it fails alone; several if only all of them together fail. */
  readonly cases: readonly FuzzCase[];
  readonly faults: readonly string[];
}

/** The cases to run. */
export interface FuzzOptions {
  readonly seed: number;
  /** The number of the first case. */
  readonly from: number;
  readonly count: number;
  /** Called with the first case of each batch. */
  readonly onProgress?: (first: number) => void;
}

/**
 * Fuzzes the transport with the cases of a seed. Traces each fault back to its case where possible. @returns the faults
 */
export async function fuzz({ seed, from, count, onProgress = () => {} }: FuzzOptions): Promise<FuzzFault[]> {
  const found: FuzzFault[] = [];
  for (let first = from; first < from + count; ) {
    const batch = Math.floor(first / BATCH_COUNT);
    const end = Math.min((batch + 1) * BATCH_COUNT, from + count);
    const cases = Array.from({ length: end - first }, (_, index) => makeCase(seed, first + index));
    onProgress(first);
    const isTls = batch % TLS_EVERY === TLS_EVERY - 1;
    const faults = await runBatch(cases, isTls);
    if (faults.length > 0) found.push(...(await narrow({ cases, faults }, isTls)));
    first = end;
  }
  return found;
}

/** Reruns halves of the failed cases until single cases are left, or neither half fails alone. */
async function narrow(fault: FuzzFault, isTls: boolean): Promise<FuzzFault[]> {
  const { cases } = fault;
  if (cases.length === 1) return [fault];
  const middle = Math.ceil(cases.length / 2);
  const found: FuzzFault[] = [];
  for (const half of [cases.slice(0, middle), cases.slice(middle)]) {
    const faults = await runBatch(half, isTls);
    if (faults.length > 0) found.push(...(await narrow({ cases: half, faults }, isTls)));
  }
  return found.length > 0 ? found : [fault];
}
