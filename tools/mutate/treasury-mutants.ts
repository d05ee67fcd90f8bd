import type { Mutant } from "./mutant.ts";

const REVIEW = ["test/unit/cli/treasury/review-transaction.test.ts"];
const COMMANDS = ["test/component/cli/treasury-commands.test.ts"];
const FULLNODE = ["test/component/cli/treasury-fullnode.test.ts"];

/** Lines that decide what an operator signs for the Treasury. */
export const TREASURY_MUTANTS: readonly Mutant[] = [
  {
    name: "calls of another Treasury pass the review",
    file: "src/cli/treasury/review-commands.ts",
    find: "treasuryId === undefined || treasuryId !== scope.subject.treasuryId",
    replace: "treasuryId === undefined",
    tests: REVIEW,
  },
  {
    name: "commands that give objects away pass the review",
    file: "src/cli/treasury/review-commands.ts",
    find: "bytes === undefined || !objects.every(isUpgradeCap)",
    replace: "bytes === undefined",
    tests: REVIEW,
  },
  {
    name: "any package passes the review of a publication",
    file: "src/cli/treasury/review-commands.ts",
    find: "if (digest !== scope.subject.packageDigest)",
    replace: "if (digest === '')",
    tests: REVIEW,
  },
  {
    name: "a transaction with trailing bytes passes the review",
    file: "src/cli/treasury/review-transaction.ts",
    find: "data === undefined || !equalBytes(again, bytes)",
    replace: "data === undefined",
    tests: REVIEW,
  },
  {
    name: "a transaction of another chain passes the review",
    file: "src/cli/treasury/review-transaction.ts",
    find: "if (during.chain !== subject.chainIdentifier)",
    replace: "if (during.chain === '')",
    tests: REVIEW,
  },
  {
    name: "the group may read a key file",
    file: "src/cli/treasury/key-files.ts",
    find: "0o077",
    replace: "0o007",
    tests: ["test/unit/cli/treasury/read-key-file.test.ts"],
  },
  {
    name: "a fullnode of any chain is accepted as the network's",
    file: "src/cli/treasury/open-treasury-chain.ts",
    find: "!canBeChainOf(name, found)",
    replace: "found === ''",
    tests: COMMANDS,
  },
  {
    name: "anybody's signature is accepted as the sender's",
    file: "src/cli/commands/treasury/submit.ts",
    find: "{ address: sender }",
    replace: "{}",
    tests: COMMANDS,
  },
  {
    name: "any answer confirms a transaction",
    file: "src/cli/confirm.ts",
    find: '=== "yes"',
    replace: '!== ""',
    tests: COMMANDS,
  },
  {
    name: "capabilities of strangers are taken in",
    file: "src/cli/treasury/sent-capabilities.ts",
    find: "type === `${typePackageId}::custody::DWalletMoved`",
    replace: 'type.endsWith("::custody::DWalletMoved")',
    tests: COMMANDS,
  },
  {
    name: "a fullnode may spend any gas",
    file: "src/cli/treasury/run-change.ts",
    find: "gasBudget === undefined && BigInt(budget ?? 0) > MAX_BUDGET_MIST",
    replace: "false",
    tests: FULLNODE,
  },
  {
    name: "a lost reply counts as a failure",
    file: "src/cli/treasury/run-change.ts",
    find: "if (found === undefined)",
    replace: "if (found !== null)",
    tests: FULLNODE,
  },
];
