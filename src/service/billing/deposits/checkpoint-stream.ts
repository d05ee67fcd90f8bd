import {
  type CheckpointGains,
  type CheckpointReader,
  CheckpointsNotServedError,
} from "../../chain/checkpoint-reader.ts";
import type { Clock } from "../../platform/lifecycle/clock.ts";

/**
 * Subscribes to checkpoints and collects the addresses that gain coins, until it fails or is closed. Calls `onNews`
 * after each checkpoint and after a failure.
 */
function openCheckpointStream(
  reader: Pick<CheckpointReader, "subscribe">,
  onNews: () => void,
): CheckpointStream {
  const closing = new AbortController();
  let addresses = new Set<string>();
  let seen: { first: bigint; last: bigint } | undefined;
  let failure: { readonly cause: unknown } | undefined;
  let isOpen: () => void;
  const opened = new Promise<void>((resolve) => {
    isOpen = resolve;
  });
  const ended = receive().catch((cause: unknown) => {
    failure = { cause };
    closing.abort();
    isOpen();
    onNews();
  });
  return {
    opened,
    get seen() {
      return seen;
    },
    get failure() {
      return failure;
    },
    takeAddresses() {
      const taken = [...addresses];
      addresses = new Set();
      return taken;
    },
    putBack(taken) {
      for (const address of taken) addresses.add(address);
    },
    async close() {
      closing.abort();
      await ended;
    },
  };

  async function receive(): Promise<never> {
    for await (const gains of reader.subscribe(closing.signal, isOpen)) {
      add(gains);
      onNews();
    }
    throw new Error("the fullnode ended the stream of checkpoints");
  }

  function add({ sequence, addresses: gained }: CheckpointGains): void {
    // A repeated checkpoint announces its payments again, which only causes further scans.
    for (const address of gained) addresses.add(address);
    if (addresses.size > MAX_ADDRESSES) throw new Error("the stream of checkpoints has too many payments");
    if (seen !== undefined && sequence > seen.last + 1n)
      throw new Error(`the stream of checkpoints jumps from ${seen.last} to ${sequence}`);
    if (seen === undefined) seen = { first: sequence, last: sequence };
    else if (sequence > seen.last) seen = { first: seen.first, last: sequence };
  }
}

/** An open stream of checkpoints. */
interface CheckpointStream {
  /** Resolves when the stream is open, or has failed. */
  readonly opened: Promise<void>;
  /** The first and the last checkpoint received, with none missing between them. Undefined before the first message. */
  readonly seen: { readonly first: bigint; readonly last: bigint } | undefined;
  /** Why the stream ended; undefined while it is open. */
  readonly failure: { readonly cause: unknown } | undefined;
  /** Takes the addresses that gained coins since the last call. */
  takeAddresses(): string[];
  /** Puts addresses back that could not be stored. */
  putBack(addresses: readonly string[]): void;
  close(): Promise<void>;
}

/** Holds minutes of a public network's payments while the database is down. */
const MAX_ADDRESSES = 100_000;

/**
 * Creates a keeper that reopens a stream of checkpoints with exponential back-off when it fails or is stuck. Calls
 * `onNews` after each checkpoint and after a failure of the stream.
 */
export function createStreamKeeper(reader: CheckpointReader, clock: Clock, onNews: () => void): StreamKeeper {
  let stream: CheckpointStream | undefined;
  let latest: bigint | undefined;
  let failure: StreamKeeper["failure"];
  let failedCount = 0;
  let openAtMs = 0;
  /** When the last message arrived, or when the last check found that none is missing. */
  let heardAtMs = 0;
  let heardLast: bigint | undefined;
  let lookedAtMs = 0;
  let missing: bigint | undefined;

  return {
    get failure() {
      return failure;
    },
    async check() {
      if (stream?.failure) await fail(stream.failure.cause);
      if (stream === undefined) {
        if (clock.now() < openAtMs) return undefined;
        stream = openCheckpointStream(reader, onNews);
        latest = missing = heardLast = undefined;
      }
      if (latest === undefined) {
        await stream.opened;
        if (stream.failure) return undefined;
        latest = await reader.latest();
        heardAtMs = lookedAtMs = clock.now();
      }
      await listen(stream, latest);
      return stream && { latest, stream, heardAtMs };
    },
    async close() {
      await stream?.close();
      stream = undefined;
      openAtMs = 0;
    },
  };

  async function listen({ seen }: CheckpointStream, opening: bigint): Promise<void> {
    if (seen?.last !== heardLast) {
      heardLast = seen?.last;
      heardAtMs = lookedAtMs = clock.now();
      missing = undefined;
      failure = undefined;
      failedCount = 0;
    } else if (clock.now() - lookedAtMs > SILENT_MS) {
      if (missing !== undefined) return fail(new Error(`the stream of checkpoints lacks ${missing}`));
      const newest = await reader.latest();
      lookedAtMs = clock.now();
      if (newest > (seen?.last ?? opening)) missing = newest;
      else heardAtMs = lookedAtMs;
    }
  }

  async function fail(cause: unknown): Promise<void> {
    await stream?.close();
    stream = undefined;
    failure = { cause };
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** failedCount, LAST_PAUSE_MS);
    openAtMs = clock.now() + (cause instanceof CheckpointsNotServedError ? NOT_SERVED_MS : pauseMs);
    failedCount++;
  }
}

/** Keeps a stream of checkpoints open. */
interface StreamKeeper {
  /** Why there is no stream, or why the last one failed; undefined once a stream has had a message. */
  readonly failure: { readonly cause: unknown } | undefined;
  /** The open stream; undefined during a pause. Throws CHAIN_UNAVAILABLE. */
  check(): Promise<OpenStream | undefined>;
  /** Closes the stream. The next check opens a new one. */
  close(): Promise<void>;
}

/** An open stream. */
export interface OpenStream {
  readonly stream: CheckpointStream;
  /** The newest checkpoint at some time after the stream was opened. */
  readonly latest: bigint;
  /** When the stream was last known to be complete, by the clock. */
  readonly heardAtMs: number;
}

/** A public network produces four checkpoints a second. A local one is silent without transactions. */
const SILENT_MS = 15_000;
const FIRST_PAUSE_MS = 500;
const LAST_PAUSE_MS = 60_000;
/** Tries again later, because a provider may enable streams. */
const NOT_SERVED_MS = 600_000;
