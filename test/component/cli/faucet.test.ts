import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { takePidLock } from "../../../src/service/platform/store/pid-lock.ts";
import { type Harness, startHarness } from "../localnet/harness.ts";
import { printed, runCli } from "./run-cli.ts";

const ADDRESS = `0x${"5a".repeat(32)}`;

describe("tss localnet faucet", () => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await startHarness();
  });
  afterAll(() => harness.close());

  const balancesOf = async (owner: string) =>
    (await harness.client.listBalances({ owner })).balances.map(({ balance }) => balance);

  it("gives SUI and IKA to an address, and prints the transaction", async () => {
    const out = await printed(["localnet", "faucet", ADDRESS, "--url", harness.net.url]);
    expect(out.split("\n").map((line) => line.replace(/0x\w{64} {2}\w{40,}$/, "COIN"))).toEqual([
      expect.stringMatching(/^ +AMOUNT {2}COIN {2,}TRANSACTION$/),
      "1000.000000000 SUI  COIN",
      "1000.000000000 IKA  COIN",
    ]);
    expect(await balancesOf(ADDRESS)).toEqual(["1000000000000", "1000000000000"]);
  });

  it("finds the local network of LOCALNET_URL, or of the service that runs on the data folder", async () => {
    await printed(["localnet", "faucet", "0xa1"], { LOCALNET_URL: harness.net.url });
    const data = mkdtempSync(path.join(tmpdir(), "tss-faucet-"));
    writeFileSync(path.join(data, "dev.json"), JSON.stringify({ fullnodeUrl: harness.net.url }));
    const held = await takePidLock(path.join(data, "pg.lock"));
    try {
      await printed(["localnet", "faucet", "0xa2"], { DATA_DIR: data });
    } finally {
      await held.release();
      rmSync(data, { recursive: true });
    }
    for (const address of ["0xa1", "0xa2"]) expect(await balancesOf(address)).toHaveLength(2);
  });

  it("reports an invalid address and a network that does not respond, and accepts a URL with a path", async () => {
    const ask = (...argv: string[]) => runCli(["localnet", "faucet", ...argv]);
    expect(await ask("nobody")).toMatchObject({
      exitCode: 2,
      err: expect.stringContaining("<address> takes"),
    });
    expect(await ask(ADDRESS, "--url", "http://127.0.0.1:1")).toMatchObject({
      exitCode: 3,
      err: expect.stringContaining("no local network responds at http://127.0.0.1:1: "),
    });
    expect(await ask(ADDRESS, "--url", `${harness.net.url}/v1/`)).toMatchObject({ exitCode: 0 });
  });
});
