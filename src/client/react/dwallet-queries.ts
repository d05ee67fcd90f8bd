import type { DWallet } from "../../../gen/client/tss/v1/onboarding_pb.ts";
import type { TssClient } from "../sdk/client.ts";
import type { TssError } from "../sdk/errors.ts";

/**
 * Creates the reads of dWallets that components share. A dWallet is read when the first component shows it. When the
 * last one is gone, the running read is aborted and the dWallet forgotten.
 */
export function createDWalletQueries(client: Pick<TssClient, "getDWallet">): DWalletQueries {
  const entries = new Map<string, Entry>();

  function show(entry: Entry, state: DWalletQueryState): void {
    entry.state = state;
    for (const listener of [...entry.listeners]) listener();
  }

  function read(entry: Entry, dwalletId: string): Promise<void> {
    entry.running ??= (async () => {
      try {
        const data = await client.getDWallet({ dwalletId }, { signal: entry.controller.signal });
        show(entry, { status: "success", data, error: undefined, isFetching: false });
      } catch (cause) {
        const { data } = entry.state;
        show(entry, { status: "error", data, error: cause as TssError, isFetching: false });
      } finally {
        entry.running = undefined;
      }
    })();
    return entry.running;
  }

  return {
    stateOf: (dwalletId) => entries.get(dwalletId)?.state ?? FIRST_READ,
    subscribe(dwalletId, listener) {
      const entry = entries.get(dwalletId) ?? createEntry();
      entries.set(dwalletId, entry);
      entry.listeners.add(listener);
      if (entry.state.data === undefined) void read(entry, dwalletId);
      return () => {
        entry.listeners.delete(listener);
        // React's strict mode leaves and comes back at once.
        queueMicrotask(() => {
          if (entry.listeners.size > 0 || entries.get(dwalletId) !== entry) return;
          entries.delete(dwalletId);
          entry.controller.abort();
        });
      };
    },
    async refetch(dwalletId) {
      const entry = entries.get(dwalletId);
      if (entry === undefined) return FIRST_READ;
      const running = read(entry, dwalletId);
      if (!entry.state.isFetching) show(entry, { ...entry.state, isFetching: true });
      await running;
      return entry.state;
    },
  };
}

/** The reads of dWallets below one provider. */
export interface DWalletQueries {
  /** Returns the same object until the state changes. */
  stateOf(dwalletId: string): DWalletQueryState;
  /** Calls the listener after each change until the returned function is called. */
  subscribe(dwalletId: string, listener: () => void): () => void;
  /** Reads a shown dWallet again; joins a running read. Never rejects. */
  refetch(dwalletId: string): Promise<DWalletQueryState>;
}

/** What is known of a dWallet. `data` stays when a later read fails. */
export type DWalletQueryState =
  | {
      readonly status: "pending";
      readonly data: undefined;
      readonly error: undefined;
      readonly isFetching: boolean;
    }
  | {
      readonly status: "success";
      readonly data: DWallet;
      readonly error: undefined;
      readonly isFetching: boolean;
    }
  | {
      readonly status: "error";
      readonly data: DWallet | undefined;
      readonly error: TssError;
      readonly isFetching: boolean;
    };

interface Entry {
  state: DWalletQueryState;
  running: Promise<void> | undefined;
  readonly listeners: Set<() => void>;
  readonly controller: AbortController;
}

/** The state before the first reply. */
const FIRST_READ: DWalletQueryState = {
  status: "pending",
  data: undefined,
  error: undefined,
  isFetching: true,
};

function createEntry(): Entry {
  const controller = new AbortController();
  return { state: FIRST_READ, running: undefined, listeners: new Set(), controller };
}
