import type { FuzzCase } from "./fuzz-case.ts";
import { makeCase } from "./make-case.ts";
import { runBatch } from "./run-batch.ts";

/** Cases that share a server. */
const BATCH_COUNT = 1_250;
/** Of so many batches one goes to a port with TLS. */
const TLS_EVERY = 4;

/** What does not hold, and with which cases. */
export interface FuzzFault {
  /** One where a case fails alone; more where only all of them together do. */
  readonly cases: readonly FuzzCase[];
  readonly faults: readonly string[];
}

/** Which cases to run. */
export interface FuzzOptions {
  readonly seed: number;
  /** The number of the first case. */
  readonly from: number;
  readonly count: number;
  /** Hears of the first case of each batch that begins. */
  readonly onProgress?: (first: number) => void;
}

/** Fuzzes the transport with the cases of a seed. @returns every fault, led back to its case where that is possible */
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

/** Runs halves of what failed until single cases are left, or no half fails without the other. */
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
