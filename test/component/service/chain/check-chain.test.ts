import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHAIN_IDENTIFIERS } from "../../../../src/protocol/chain/network-traits.ts";
import { checkChain, knownChain } from "../../../../src/service/chain/fullnodes/check-chain.ts";
import type { ChainNetwork } from "../../../../src/service/chain/fullnodes/network.ts";
import { loadConfig } from "../../../../src/service/config/config.ts";
import { readNetworkAccess } from "../../../../src/service/config/network-access.ts";
import { CONFIG_VARIABLES } from "../../../../src/service/config/variables.ts";
import { systemClock } from "../../../../src/service/platform/lifecycle/clock.ts";
import type { Database } from "../../../../src/service/platform/store/database.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";

let database: Database;
beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());

/** The chains that networks were pinned to. */
const pins: string[] = [];

/** A network whose fullnode reports this chain. */
function fullnodeOf(chainIdentifier: string | Promise<never>, name = "localnet") {
  const core = { getChainIdentifier: async () => ({ chainIdentifier: await chainIdentifier }) };
  const client = { core } as unknown as ChainNetwork["client"];
  const pinChain = (chain: string) => void pins.push(chain);
  return { name, client, pinChain, clock: systemClock, times: { readMs: 1, buildMs: 1, executeMs: 1 } };
}

const id = `0x${"1".repeat(64)}`;
const TESTNET = {
  NETWORKS: "testnet",
  SUI_GRPC_URL_TESTNET: "http://127.0.0.1:1",
  SERVICECORE_TESTNET_PACKAGE_ID: id,
  SERVICECORE_TESTNET_TREASURY_ID: id,
  SERVICECORE_TESTNET_OPERATOR_CAP_IDS: id,
  HOT_WALLET_SUI_SECRET_HEX: randomBytes(32).toString("hex"),
};

describe("a database", () => {
  it("belongs to the chain that it was first used with, and refuses every other chain each time", async () => {
    await checkChain(database, fullnodeOf("chain-1"));
    await checkChain(database, fullnodeOf("chain-1"));
    for (let attempt = 0; attempt < 2; attempt++) {
      await expect(checkChain(database, fullnodeOf("chain-2"))).rejects.toThrow(
        "the database belongs to another localnet: chain chain-1, and the fullnode serves chain-2",
      );
    }
    await checkChain(database, fullnodeOf("chain-1"));
    expect(pins).toEqual(["chain-1", "chain-1", "chain-1"]);
  });

  it("has one chain for each network", async () => {
    const posing = { isPosing: true };
    await checkChain(database, fullnodeOf("chain-3", "testnet"), posing);
    await expect(checkChain(database, fullnodeOf("chain-1", "testnet"), posing)).rejects.toThrow(
      "another testnet",
    );
    await checkChain(database, fullnodeOf("chain-1"));
  });

  it("never belongs to a chain that is not the public one of its network's name", async () => {
    const { testnet, mainnet } = CHAIN_IDENTIFIERS;
    for (const chain of ["chain-1", testnet])
      await expect(checkChain(database, fullnodeOf(chain, "mainnet"))).rejects.toThrow(
        `the fullnode does not serve mainnet: its chain is ${chain}`,
      );
    expect(await knownChain(database, "mainnet")).toBeUndefined();
    await checkChain(database, fullnodeOf(mainnet, "mainnet"));
    expect(await knownChain(database, "mainnet")).toBe(mainnet);
    await expect(checkChain(database, fullnodeOf(testnet))).rejects.toThrow("does not serve localnet");
  });

  it("does not wait longer than a read for a fullnode that never names its chain", async () => {
    await expect(checkChain(database, fullnodeOf(new Promise<never>(() => {})))).rejects.toThrow(
      "no answer within 1 ms",
    );
  });
});

describe("a localnet", () => {
  it("cannot pose as a public network through any environment variable", async () => {
    for (const { name } of CONFIG_VARIABLES) expect(name).not.toMatch(/pos(e|ing)|chain_?id|identifier/i);
    const everything = {
      IS_POSING: "true",
      ISPOSING: "true",
      POSING: "testnet",
      CHAIN_IDENTIFIER: "chain-1",
    };
    const { networks } = loadConfig({ ...everything, ...TESTNET });
    const access = await readNetworkAccess(networks[0]);
    expect(access).not.toHaveProperty("isPosing");
    await expect(checkChain(database, fullnodeOf("chain-1", "testnet"), access)).rejects.toThrow(
      "does not serve testnet",
    );
  });
});
