/** The report of a trial whose service and network put secrets into every text that they return. */
import { expect, test, vi } from "vitest";
import { tryNetwork } from "../../../src/cli/demo/try-network.ts";
import type * as Client from "../../../src/client/sdk/client.ts";
import { TssError } from "../../../src/client/sdk/errors.ts";
import { ALGORITHM_TRIPLES } from "../../../src/protocol/algorithms.ts";

const API_KEY = "a-project-key-without-the-usual-prefix";
const SEED = Uint8Array.from({ length: 32 }, (_, index) => index + 7);
const SCALAR = "5c".repeat(32);
const SHARE = `0020${SCALAR}`;

/** Set by each test: what the service echoes. */
let echoed = "";

vi.mock("../../../src/client/sdk/client.ts", () => ({
  createClient: (() => ({
    raw: {
      onboarding: { getNetwork: async () => ({ network: "localnet", networkEncryptionKeyId: echoed }) },
      billing: {
        getBalance: async () => ({ balanceMicroUsd: 1_000_000n, heldMicroUsd: 0n }),
        getPricing: async () => ({ signPrices: [], signPriceMicroUsd: 1n, dkgPriceMicroUsd: 1n }),
      },
    },
    onboard: async () => ({
      userSecretKeyShareHex: SHARE,
      dwallet: { id: `0x${"d".repeat(64)}` },
      txDigests: { onboard: null, accept: null },
      publicKeyHex: echoed,
    }),
    sign: async () => {
      const base64 = Buffer.from(echoed, "hex").toString("base64");
      throw new TssError("NETWORK_REJECTED", `got ${echoed}, ${echoed.toUpperCase()} and ${base64}`, {
        metadata: { detail: `{"text":"${echoed}"}` },
      });
    },
  })) as unknown as typeof Client.createClient,
}));
vi.mock("@mysten/sui/grpc", async (load) => ({
  ...(await load<object>()),
  SuiGrpcClient: class {
    readonly core = {
      getChainIdentifier: async () => ({ chainIdentifier: "chain" }),
      getObject: async () => {
        throw new Error(`no object: ${echoed}`);
      },
    };
  },
}));

test.each([
  ["the project's key", API_KEY],
  ["the seed", Buffer.from(SEED).toString("hex")],
  ["the user's share", SHARE],
  ["the scalar of the user's share", SCALAR],
])("a report lacks %s, even if the service and the network repeat it", async (_what, secret) => {
  echoed = secret;
  const report = await tryNetwork({
    access: {
      baseUrl: "http://127.0.0.1:1",
      apiKey: API_KEY,
      network: "localnet",
      fullnodeUrl: "http://127.0.0.1:1",
    },
    triples: ALGORITHM_TRIPLES.slice(0, 1),
    seed: SEED,
    startedAt: "2026-01-01T00:00:00Z",
    isReference: false,
    note: () => {},
  });
  expect(report.stages.map(({ status }) => status)).toEqual(["ok", "ok", "failed", "failed"]);
  const text = JSON.stringify(report);
  expect(text.match(/\[redacted\]/g)?.length).toBeGreaterThanOrEqual(6);
  const base64 = Buffer.from(secret, "hex").toString("base64").replace(/=+$/, "");
  for (const form of [secret, secret.toUpperCase(), ...(base64.length < 8 ? [] : [base64])])
    expect(text).not.toContain(form);
});
