import { useCallback, useState, useSyncExternalStore } from "react";
import type { ActionOptions } from "../sdk/action.ts";
import type { GetOrCreateArgs } from "../sdk/actions/onboard.ts";
import type { OnboardArgs, OnboardResult, OnboardStage } from "../sdk/actions/onboard-within.ts";
import type { ResumeArgs } from "../sdk/actions/resume-within.ts";
import type { SignOptions } from "../sdk/actions/signing/sign.ts";
import type { SignArgs } from "../sdk/actions/signing/sign-args.ts";
import type { SignResult, SignStage } from "../sdk/actions/signing/sign-within.ts";
import type { TssClient } from "../sdk/client.ts";
import {
  createMutationStore,
  type MutationCallbacks,
  type MutationState,
  type MutationStore,
} from "./mutation-store.ts";
import { type SigningScope, useScope } from "./signing-provider.ts";

export type { MutationCallbacks } from "./mutation-store.ts";

/**
 * Makes a dWallet like `client.onboard`; with a `name`, finds the dWallet of that name or makes it like
 * `client.getOrCreate`.
 *
 * @example
 * const onboard = useOnboard();
 * <button disabled={onboard.isPending} onClick={() => onboard.mutate({ seed, curve: "ED25519" })}>Make a key</button>
 */
export function useOnboard(): Mutation<
  OnboardVariables,
  ActionOptions<OnboardStage>,
  OnboardedKey,
  OnboardStage
> {
  return useMutation(performOnboard);
}

/**
 * Signs a message like `client.sign`.
 *
 * @example
 * const sign = useSign();
 * const { signature } = await sign.mutateAsync({ seed, dwalletId, message, ...algorithm });
 */
export function useSign(): Mutation<SignArgs, SignOptions, SignResult, SignStage> {
  return useMutation(performSign);
}

/**
 * Continues an interrupted action from its token like `client.resume`, for example after a reload.
 *
 * @example
 * const resume = useResume();
 * if (sign.error?.resumeToken) resume.mutate({ token: sign.error.resumeToken, seed, message });
 */
export function useResume(): Mutation<
  ResumeVariables,
  ActionOptions<OnboardStage | SignStage>,
  ResumedAction,
  OnboardStage | SignStage
> {
  return useMutation(performResume);
}

/** One action at a time, and what the component shows of the last one. */
export type Mutation<Variables, Options, Data, Stage extends string> = MutationState<Data, Stage> & {
  readonly isIdle: boolean;
  readonly isPending: boolean;
  readonly isSuccess: boolean;
  readonly isError: boolean;
  /**
   * Begins the action with the SDK's own options. Its outcome is in the state; callbacks get it too. While an earlier
   * call runs it begins nothing, and calls only `onError`, with ALREADY_RUNNING.
   */
  mutate(variables: Variables, options?: Options & MutationCallbacks<Data>): void;
  /**
   * Like `mutate`, and resolves with the result. Rejects with a TssError: one of the action's, ALREADY_RUNNING while an
   * earlier call runs, and ABORTED when the component is gone.
   */
  mutateAsync(variables: Variables, options?: Options & MutationCallbacks<Data>): Promise<Data>;
  /** Aborts the running action. The state then has its error ABORTED, with a token to resume it. */
  abort(reason?: unknown): void;
  /** Forgets the last action. A running one is aborted, and nothing more is shown of it. */
  reset(): void;
};

/** Arguments of an onboarding; with a name, of a dWallet that may exist. */
export type OnboardVariables = OnboardArgs | GetOrCreateArgs;

/**
 * A dWallet that is ready to sign. Without the user's share, which is as secret as the seed: a state of React is visible
 * in its developer tools. `client.recoverShare` derives it again.
 */
export type OnboardedKey = Omit<OnboardResult, "userSecretKeyShareHex">;

/** Arguments to resume an action: the token, and those of `client.resume`. */
export type ResumeVariables = ResumeArgs & { readonly token: string };

/** The result of a resumed action, without the user's share. */
export type ResumedAction =
  | ({ readonly kind: "onboard" } & OnboardedKey)
  | ({ readonly kind: "sign"; readonly dwalletId: string; readonly message: Uint8Array } & SignResult);

type Perform<Variables, Options, Data> = (
  client: TssClient,
  variables: Variables,
  options: Options,
) => Promise<Data>;

const performOnboard: Perform<OnboardVariables, ActionOptions<OnboardStage>, OnboardedKey> = async (
  client,
  variables,
  options,
) =>
  withoutShare(
    await ("name" in variables ? client.getOrCreate(variables, options) : client.onboard(variables, options)),
  );

const performSign: Perform<SignArgs, SignOptions, SignResult> = (client, variables, options) =>
  client.sign(variables, options);

const performResume: Perform<
  ResumeVariables,
  ActionOptions<OnboardStage | SignStage>,
  ResumedAction
> = async (client, { token, ...args }, options) => {
  const result = await client.resume(token, args, options);
  return result.kind === "onboard" ? withoutShare(result) : result;
};

function withoutShare<T extends OnboardResult>({ userSecretKeyShareHex: _share, ...key }: T) {
  return key;
}

function useMutation<Variables, Options extends ActionOptions<Stage>, Data, Stage extends string>(
  perform: Perform<Variables, Options, Data>,
): Mutation<Variables, Options, Data, Stage> {
  const scope = useScope();
  const { client } = scope;
  const store = useStore<Data, Stage>(scope);
  const state = useSyncExternalStore(store.subscribe, store.read, store.readIdle);
  const mutateAsync = useCallback(
    async (
      variables: Variables,
      { onSuccess, onError, ...options } = {} as Options & MutationCallbacks<Data>,
    ) =>
      await store.run((own) => perform(client, variables, { ...options, ...own } as unknown as Options), {
        signal: options.signal,
        onProgress: options.onProgress,
        onSuccess,
        onError,
      }),
    [store, client, perform],
  );
  const mutate = useCallback(
    (variables: Variables, options?: Options & MutationCallbacks<Data>) => {
      // The state has the error.
      mutateAsync(variables, options).catch(() => {});
    },
    [mutateAsync],
  );
  const { status } = state;
  return {
    ...state,
    isIdle: status === "idle",
    isPending: status === "pending",
    isSuccess: status === "success",
    isError: status === "error",
    mutate,
    mutateAsync,
    abort: store.abort,
    reset: store.reset,
  };
}

/** Keeps the store in a state, because React may forget a memo. Another client gets another one. */
function useStore<Data, Stage extends string>(scope: SigningScope): MutationStore<Data, Stage> {
  const [held, setHeld] = useState(() => ({ scope, store: createMutationStore<Data, Stage>() }));
  if (held.scope === scope) return held.store;
  const next = { scope, store: createMutationStore<Data, Stage>() };
  setHeld(next);
  return next.store;
}
