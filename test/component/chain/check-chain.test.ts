import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkChain } from "../../../src/chain/check-chain.ts";
import type { ChainNetwork } from "../../../src/chain/network.ts";
import type { Database } from "../../../src/store/database.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../support/database.ts";

let database: Database;
beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());

/** A network whose fullnode reports this chain. */
function fullnodeOf(chainIdentifier: string, name: ChainNetwork["name"] = "localnet") {
  const core = { getChainIdentifier: async () => ({ chainIdentifier }) };
  return { name, client: { core } as unknown as ChainNetwork["client"] };
}

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
  });

  it("has one chain for each network", async () => {
    await checkChain(database, fullnodeOf("chain-3", "testnet"));
    await expect(checkChain(database, fullnodeOf("chain-1", "testnet"))).rejects.toThrow("another testnet");
    await checkChain(database, fullnodeOf("chain-1"));
  });
});
