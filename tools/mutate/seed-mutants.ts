import type { Mutant } from "./mutant.ts";

const CREATE = ["test/unit/client/seed/create-passkey.test.ts"];
const ASK = ["test/unit/client/seed/seed-from-passkey.test.ts"];
const WRAP = ["test/unit/client/seed/wrap-seed.test.ts"];
const CEREMONY = ["test/unit/client/seed/ceremony.test.ts"];
const WORDS = ["test/unit/client/seed/seed-words.test.ts"];
const FOLDER = "src/client/seed/passkey";

/** Lines that keep a seed with its user: what a passkey must prove, and what no one may read. */
export const SEED_MUTANTS: readonly Mutant[] = [
  {
    name: "an answer without the user's verification gives a seed",
    file: `${FOLDER}/ask-passkey.ts`,
    find: "if (!flags.isUserVerified) {",
    replace: "if (credentialId === undefined) {",
    tests: ASK,
  },
  {
    name: "a question only prefers the user's verification",
    file: `${FOLDER}/ask-passkey.ts`,
    find: 'userVerification: "required",',
    replace: 'userVerification: "preferred",',
    tests: ASK,
  },
  {
    name: "any passkey may answer for the named ones",
    file: `${FOLDER}/ask-passkey.ts`,
    find: "if (passkeys.length > 0 && !passkeys",
    replace: "if (passkeys.length > 99 && !passkeys",
    tests: ASK,
  },
  {
    name: "a passkey's value stays in memory",
    file: `${FOLDER}/ask-passkey.ts`,
    find: "    value?.fill(0);\n",
    replace: "",
    tests: ASK,
  },
  {
    name: "a value of another length gives a seed",
    file: `${FOLDER}/ask-passkey.ts`,
    find: "if (value?.length !== SECRET_BYTES) throw",
    replace: "if (value === undefined) throw",
    tests: ASK,
  },
  {
    name: "a passkey with a wrapped seed gives its own",
    file: `${FOLDER}/seed-from-passkey.ts`,
    find: "if (own === undefined) return",
    replace: "if (own !== null) return",
    tests: ASK,
  },
  {
    name: "an empty list of passkeys lets any passkey answer",
    file: `${FOLDER}/seed-from-passkey.ts`,
    find: "if (passkeys?.length === 0) {",
    replace: "if (passkeys?.length === -1) {",
    tests: ASK,
  },
  {
    name: "the key that wraps is the seed of its passkey",
    file: `${FOLDER}/derive-secrets.ts`,
    find: "hkdf(sha256, value, WRAPPING_LABEL,",
    replace: "hkdf(sha256, value, SEED_LABEL,",
    tests: WRAP,
  },
  {
    name: "a wrapped seed is not bound to its passkey's name",
    file: `${FOLDER}/wrapped-seed.ts`,
    find: "additionalData: new TextEncoder().encode(header),",
    replace: "additionalData: new Uint8Array(header.length > 0 ? 0 : 1),",
    tests: WRAP,
  },
  {
    name: "all wrapped seeds of a passkey have one nonce",
    file: `${FOLDER}/wrapped-seed.ts`,
    find: "const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));",
    replace: "const nonce = new Uint8Array(NONCE_BYTES);",
    tests: WRAP,
  },
  {
    name: "a seed that its owner overwrites while the user answers is wrapped as zeros",
    file: `${FOLDER}/wrap-seed.ts`,
    find: "const own = Uint8Array.from(seed);",
    replace: "const own = seed;",
    tests: WRAP,
  },
  {
    name: "the copy of a seed that is wrapped stays in memory",
    file: `${FOLDER}/wrap-seed.ts`,
    find: "    own.fill(0);\n",
    replace: "",
    tests: WRAP,
  },
  {
    name: "a passkey without the extension is created",
    file: `${FOLDER}/create-passkey.ts`,
    find: ".prf?.enabled !== true) {",
    replace: ".prf?.enabled === null) {",
    tests: CREATE,
  },
  {
    name: "all passkeys have one handle, so that a new one replaces the old",
    file: `${FOLDER}/create-passkey.ts`,
    find: "args.userHandle ?? crypto.getRandomValues(new Uint8Array(32));",
    replace: "args.userHandle ?? new Uint8Array(32);",
    tests: CREATE,
  },
  {
    name: "a question goes on after its time limit if the provider ignores it",
    file: `${FOLDER}/ceremony.ts`,
    find: "await Promise.race([ask(platform, { signal, timeout: timeoutMs + GRACE_MS }), ended]);",
    replace: "await ask(platform, { signal, timeout: timeoutMs + GRACE_MS });",
    tests: CEREMONY,
  },
  {
    name: "a question is asked although its signal has aborted",
    file: `${FOLDER}/ceremony.ts`,
    find: "    signal.throwIfAborted();\n",
    replace: "",
    tests: CEREMONY,
  },
  {
    name: "an error repeats a word of the user",
    file: "src/client/seed/words/seed-words.ts",
    find: "const unknownAt = found.findIndex((word) => !known.has(word));",
    replace:
      "const unknownAt = found.findIndex((word) => {\n    if (!known.has(word)) throw new Error(word);\n    return false;\n  });",
    tests: WORDS,
  },
];
