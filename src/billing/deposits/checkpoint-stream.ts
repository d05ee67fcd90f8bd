import type { CheckpointGains, CheckpointReader } from "../../chain/checkpoint-reader.ts";

/** Subscribes to checkpoints and collects the addresses that gain coins, until it fails or is closed. */
export function openCheckpointStream(reader: Pick<CheckpointReader, "subscribe">): CheckpointStream {
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
    for await (const gains of reader.subscribe(closing.signal, isOpen)) add(gains);
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
export interface CheckpointStream {
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
