import type { Mutant } from "./mutant.ts";

const TOOLS = ["test/unit/signer/mcp/mcp-tools.test.ts"];
const LEDGER = ["test/component/signer/signature-ledger.test.ts"];
const HTTP = ["test/component/signer/mcp-http.test.ts"];
const CHAINS = ["test/unit/signer/chain-payloads.test.ts"];

/** What an agent can sign, and the payloads of chains. */
export const AGENT_MUTANTS: readonly Mutant[] = [
  {
    name: "an agent signs with a key that was not allowed",
    file: "src/signer/mcp/signing-policy.ts",
    find: "if (!policy.keyNames.has(keyName))",
    replace: "if (false)",
    tests: TOOLS,
  },
  {
    name: "an agent signs a kind that was not allowed",
    file: "src/signer/mcp/signing-policy.ts",
    find: "if (!policy.payloads.has(input.kind))",
    replace: "if (false)",
    tests: TOOLS,
  },
  {
    name: "an agent's signatures are not counted",
    file: "src/signer/mcp/mcp-tools.ts",
    find: "        ledger.take(name, count);\n",
    replace: "",
    tests: TOOLS,
  },
  {
    name: "an agent takes the backend's idempotency keys",
    file: "src/signer/mcp/mcp-tools.ts",
    find: "`mcp-${idempotencyKey}`",
    replace: "idempotencyKey",
    tests: TOOLS,
  },
  {
    name: "an agent's transfer burns the coins as a fee",
    file: "src/signer/mcp/transfer-limits.ts",
    find: "value + gas * price > limits.maxWei",
    replace: "value > limits.maxWei",
    tests: TOOLS,
  },
  {
    name: "an authorization leaves the contract out of its domain",
    file: "src/signer/mcp/transfer-limits.ts",
    find: "!hasPlace || ",
    replace: "",
    tests: TOOLS,
  },
  {
    name: "two processes of an agent both take the last signature",
    file: "src/signer/mcp/signature-ledger.ts",
    find: "refuseAbove(bounds, countOf(folder, keyName, atMs), 0);",
    replace: "void atMs;",
    tests: LEDGER,
  },
  {
    name: "a page of a browser calls an agent's server",
    file: "src/signer/mcp/serve-http.ts",
    find: "request.headers.origin !== undefined",
    replace: "false",
    tests: HTTP,
  },
  {
    name: "a name that points at this machine calls an agent's server",
    file: "src/signer/mcp/serve-http.ts",
    find: '!LOOPBACK_HOST.test(request.headers.host ?? "")',
    replace: "false",
    tests: HTTP,
  },
  {
    name: "octets behind a transaction of Solana are signed",
    file: "src/signer/payloads/solana-payload.ts",
    find: "if (!isSame)",
    replace: "if (false)",
    tests: CHAINS,
  },
  {
    name: "a transaction of Sui of somebody else is signed",
    file: "src/signer/payloads/sui-payload.ts",
    find: "own !== sender && own !== gasOwner",
    replace: "false",
    tests: CHAINS,
  },
  {
    name: "a PSBT has any number of signatures",
    file: "src/signer/payloads/bitcoin-payload.ts",
    find: "items.length > MAX_INPUTS",
    replace: "false",
    tests: CHAINS,
  },
  {
    name: "a PSBT is a way around the count of an agent's signatures",
    file: "src/signer/mcp/explanation.ts",
    find: 'input.kind === "bitcoin_psbt"',
    replace: "false",
    tests: TOOLS,
  },
];
