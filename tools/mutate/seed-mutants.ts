import type { Mutant } from "./mutant.ts";

const CREATE = ["test/unit/client/seed/create-passkey.test.ts"];
const ASK = ["test/unit/client/seed/seed-from-passkey.test.ts"];
const WRAP = ["test/unit/client/seed/wrap-seed.test.ts"];
const CEREMONY = ["test/unit/client/seed/ceremony.test.ts"];
const WORDS = ["test/unit/client/seed/seed-words.test.ts"];
const JOINED = ["test/unit/client/seed/pieces.test.ts"];
const ADDED = ["test/unit/client/seed/add-recovery.test.ts"];
const PIECES = "src/client/seed/pieces";
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
  {
    name: "pieces give a seed that is not the recovery's",
    file: `${PIECES}/join-pieces.ts`,
    find: "if (seed !== undefined && signerAddressOf(seed, curve) === holderAddress)",
    replace: "if (seed !== undefined)",
    tests: JOINED,
  },
  {
    name: "pieces of two splits are joined",
    file: `${PIECES}/select-set.ts`,
    find: "return [dwalletId, curve, holderAddress, splitId, threshold, count].join();",
    replace: "return [dwalletId, curve, threshold, count, holderAddress.length, splitId.length].join();",
    tests: JOINED,
  },
  {
    name: "an error quotes a damaged piece",
    file: `${PIECES}/piece-text.ts`,
    find: '"is damaged: a character is wrong, missing or in another place",',
    replace: "`is damaged: a character is wrong, missing or in another place: ${text}`,",
    tests: JOINED,
  },
  {
    name: "a recovery is split before the chain shows its share",
    file: `${PIECES}/add-recovery.ts`,
    find: "  await recoverAccepted(client, args, { encryptedUserSecretKeyShareId, deadline, options });\n",
    replace: "",
    tests: ADDED,
  },
  {
    name: "a recovery takes another share on the chain for its own",
    file: `${PIECES}/add-recovery.ts`,
    find: "if (found.encryptedUserSecretKeyShareId === encryptedUserSecretKeyShareId) return;",
    replace: "if (found.encryptedUserSecretKeyShareId !== undefined) return;",
    tests: ADDED,
  },
  {
    name: "a recovery does not look for the share that the service names",
    file: `${PIECES}/add-recovery.ts`,
    find: "if (named.encryptedUserSecretKeyShareId === encryptedUserSecretKeyShareId) return;",
    replace: "return;",
    tests: ADDED,
  },
  {
    name: "a dWallet is shared with whatever address a registration returns",
    file: `${PIECES}/add-recovery.ts`,
    find: "recipient: { ...recipient, address: holderAddress }",
    replace: "recipient",
    tests: ADDED,
  },
  {
    name: "the seeds of a recovery stay in memory",
    file: `${PIECES}/add-recovery.ts`,
    find: "for (const secret of Object.values(secrets)) secret.fill(0);",
    replace: "",
    tests: ADDED,
  },
];
