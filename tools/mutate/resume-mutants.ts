import type { Mutant } from "./mutant.ts";

const RESUME = ["test/component/client/sdk/resume.test.ts"];
const TOKEN = ["test/unit/client/sdk/resume-token.test.ts"];
const IMPORT = ["test/unit/client/sdk/import-key.test.ts"];
const NAME = ["test/unit/client/sdk/get-or-create.test.ts"];
const NAME_RACE = ["test/race/dwallet-names.test.ts"];

/** Lines that keep a resumed action, or a named dWallet, unique and the caller's own. */
export const RESUME_MUTANTS: readonly Mutant[] = [
  {
    name: "a resumed signature may be of another message than the token's",
    file: "src/client/sdk/actions/resume-within.ts",
    find: "      !equalBytes(sha256(message), point.messageDigest)\n    ) {",
    replace: "      message.length === 0\n    ) {",
    tests: RESUME,
  },
  {
    name: "the caller's message is not compared with the token's",
    file: "src/client/sdk/actions/resume-within.ts",
    find: "    if (!equalBytes(sha256(message), point.messageDigest)) throw",
    replace: "    if (message.length === 0) throw",
    tests: RESUME,
  },
  {
    name: "the token of an onboarding drops the private key of an import",
    file: "src/client/sdk/actions/resume-within.ts",
    find: 'args.privateKey !== undefined && point.kind !== "import"',
    replace: 'args.privateKey !== undefined && point.kind === "sign"',
    tests: IMPORT,
  },
  {
    name: "a key is imported on another curve than the caller's",
    file: "src/client/sdk/actions/resume-within.ts",
    find: "if (curve !== point.curve)",
    replace: "if (curve === undefined)",
    tests: IMPORT,
  },
  {
    name: "a resumed onboarding begins another session",
    file: "src/client/sdk/actions/resume-within.ts",
    find: "    return await makeDWallet(context, action, seed, { ...point, sessionIdentifier }, imported);\n",
    replace:
      "    return await makeDWallet(context, action, seed, { ...point, sessionIdentifier: sessionIdentifier.toReversed() }, imported);\n",
    tests: RESUME,
  },
  {
    name: "a token is given to the caller after its step",
    file: "src/client/sdk/action.ts",
    find: "      await options.onResumeToken?.(resumeToken);\n",
    replace: "      void options.onResumeToken?.(resumeToken);\n",
    tests: RESUME,
  },
  {
    name: "an error that decided the action has a token",
    file: "src/client/sdk/action.ts",
    find: "isResumable(failure) ? resumeToken : undefined",
    replace: "resumeToken",
    tests: RESUME,
  },
  {
    name: "a changed token is accepted",
    file: "src/client/sdk/actions/resume-token.ts",
    find: "  if (!equalBytes(checksumOf(versioned), bytes.subarray(-CHECKSUM_BYTES))) throw malformed();\n",
    replace: "",
    tests: TOKEN,
  },
  {
    name: "a token of another network is accepted",
    file: "src/client/sdk/actions/resume-token.ts",
    find: "  if (point.network !== network) throw",
    replace: '  if (point.network === undefined && network !== "mainnet") throw',
    tests: TOKEN,
  },
  {
    name: "a dWallet of another name is returned",
    file: "src/client/sdk/actions/get-or-make.ts",
    find: "found !== undefined && found.name !== name",
    replace: 'found !== undefined && found.name === ""',
    tests: NAME,
  },
  {
    name: "getOrCreate fails for a name that is in use",
    file: "src/client/sdk/actions/get-or-make.ts",
    find: '|| error.reason !== "DWALLET_NAME_TAKEN") throw error;',
    replace: '|| error.reason !== "") throw error;',
    tests: NAME,
  },
  {
    name: "a name stays with a dWallet that failed",
    file: "src/service/onboarding/dwallet-row.ts",
    find: "AND d.state NOT IN ('Failed', 'NetworkRejectedDKGVerification')${ofUser}`,",
    replace: "AND d.state <> ''${ofUser}`,",
    tests: NAME_RACE,
  },
];
