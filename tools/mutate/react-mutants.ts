import type { Mutant } from "./mutant.ts";

const MUTATIONS = ["test/unit/client/react/mutations.test.ts"];
const DWALLETS = ["test/unit/client/react/use-dwallet.test.ts"];
const FOLDER = "src/client/react";

/** Lines of the hooks that keep secrets out of React's state, and decide when an action begins and ends. */
export const REACT_MUTANTS: readonly Mutant[] = [
  {
    name: "a double click signs twice",
    file: `${FOLDER}/mutation-store.ts`,
    find: "if (current !== undefined) {",
    replace: "if (current === null) {",
    tests: MUTATIONS,
  },
  {
    name: "a component that is gone signs",
    file: `${FOLDER}/mutation-store.ts`,
    find: 'if (isGone) throw new TssError("ABORTED", "the component is gone");',
    replace: "",
    tests: MUTATIONS,
  },
  {
    name: "a component that is gone leaves its action running",
    file: `${FOLDER}/mutation-store.ts`,
    find: "          isGone = true;\n          forget();",
    replace: "          isGone = true;",
    tests: MUTATIONS,
  },
  {
    name: "strict mode ends an action that has just begun",
    file: `${FOLDER}/mutation-store.ts`,
    find: "if (listeners.size > 0) return;",
    replace: "",
    tests: MUTATIONS,
  },
  {
    name: "an action that was forgotten shows its end",
    file: `${FOLDER}/mutation-store.ts`,
    find: "if (current !== controller) return false;",
    replace: "",
    tests: MUTATIONS,
  },
  {
    name: "an action that was forgotten shows its progress",
    file: `${FOLDER}/mutation-store.ts`,
    find: "            if (current === controller)\n",
    replace: "",
    tests: MUTATIONS,
  },
  {
    name: "the caller's signal replaces the component's",
    file: `${FOLDER}/mutation-store.ts`,
    find: "AbortSignal.any([signal, controller.signal]) : controller.signal",
    replace: "signal : controller.signal",
    tests: MUTATIONS,
  },
  {
    name: "a state keeps the arguments of its call",
    file: `${FOLDER}/mutation-store.ts`,
    find: 'if (end({ status: "success", data, error: undefined, progress }))',
    replace: 'if (end({ status: "success", data, error: undefined, progress, perform } as never))',
    tests: MUTATIONS,
  },
  {
    name: "a state has the user's share",
    file: `${FOLDER}/use-mutations.ts`,
    find: "  return key;",
    replace: "  return { ...key, userSecretKeyShareHex: _share };",
    tests: MUTATIONS,
  },
  {
    name: "a resumed action shows the user's share",
    file: `${FOLDER}/use-mutations.ts`,
    find: 'result.kind === "onboard" ? withoutShare(result) : result',
    replace: "result as never",
    tests: MUTATIONS,
  },
  {
    name: "another user's client continues the former one's action",
    file: `${FOLDER}/use-mutations.ts`,
    find: "if (held.scope === scope) return held.store;",
    replace: "if (held !== undefined) return held.store;",
    tests: MUTATIONS,
  },
  {
    name: "another user's client shows the former one's dWallets",
    file: `${FOLDER}/signing-provider.ts`,
    find: "if (scope.client === client) return scope;",
    replace: "if (scope !== undefined) return scope;",
    tests: DWALLETS,
  },
  {
    name: "a dWallet that nobody shows is still read",
    file: `${FOLDER}/dwallet-queries.ts`,
    find: "          entry.controller.abort();\n",
    replace: "",
    tests: DWALLETS,
  },
];
