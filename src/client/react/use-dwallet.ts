import { useCallback, useSyncExternalStore } from "react";
import type { DWalletQueryState } from "./dwallet-queries.ts";
import { useScope } from "./signing-provider.ts";

/**
 * Reads a dWallet from the service, once for all components below one provider that show it. The service's data is not
 * compared with the chain: `client.readKey` does. `error` can be DWALLET_NOT_FOUND, and each reason of a call.
 * @param args the dWallet's id; undefined reads nothing, and the status stays `pending`
 *
 * @example
 * const { status, data, error, refetch } = useDWallet({ dwalletId });
 * const isReady = status === "success" && data.state === DWalletState.Active;
 */
export function useDWallet({ dwalletId }: { readonly dwalletId: string | undefined }): DWalletQuery {
  const { dwallets } = useScope();
  const subscribe = useCallback(
    (listener: () => void) => (dwalletId === undefined ? nothing : dwallets.subscribe(dwalletId, listener)),
    [dwallets, dwalletId],
  );
  const read = () => (dwalletId === undefined ? UNKNOWN : dwallets.stateOf(dwalletId));
  const state = useSyncExternalStore(subscribe, read, read);
  const refetch = useCallback(
    async () => (dwalletId === undefined ? UNKNOWN : dwallets.refetch(dwalletId)),
    [dwallets, dwalletId],
  );
  const { status } = state;
  return {
    ...state,
    isPending: status === "pending",
    isSuccess: status === "success",
    isError: status === "error",
    refetch,
  };
}

/** A dWallet as far as it is known. */
export type DWalletQuery = DWalletQueryState & {
  /** There is no reply yet. */
  readonly isPending: boolean;
  readonly isSuccess: boolean;
  /** The last read failed. */
  readonly isError: boolean;
  /** Reads again, or joins a running read. Resolves with the new state, and never rejects. */
  refetch(): Promise<DWalletQueryState>;
};

const UNKNOWN: DWalletQueryState = {
  status: "pending",
  data: undefined,
  error: undefined,
  isFetching: false,
};

function nothing(): void {}
