/** The check of the Treasury's Move package accepts it and refuses planted faults. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { getNetworkConfig } from "@ika.xyz/sdk";
import { describe, expect, it } from "vitest";
import {
  localTreasuryPackage,
  packageDigest,
  treasuryPackageOf,
} from "../../../src/localnet/contracts/treasury/treasury-package.ts";
import { assertOneNetwork, buildTreasury } from "../../../tools/move/build-treasury.ts";
import { assertLockedId, readFake } from "../../../tools/move/dependencies.ts";
import { type MoveFiles, readMoveFiles } from "../../../tools/move/move-files.ts";
import { MOVE_NETWORKS, MOVE_PACKAGES, publishedIds } from "../../../tools/move/published-packages.ts";
import { ROOT } from "../../support/repository/source-files.ts";

const TREASURY = path.join(ROOT, "move/treasury");
const SOURCE = "sources/treasury.move";
const files = readMoveFiles(TREASURY);

function withSource(from: string, to: string): MoveFiles {
  const source = files[SOURCE]!;
  expect(source).toContain(from);
  return { ...files, [SOURCE]: source.replace(from, to) };
}

describe("the Treasury's Move package", () => {
  it.each(MOVE_NETWORKS)("compiles for %s to the pinned digest and modules", async (network) => {
    const pinned = (name: string) => JSON.parse(readFileSync(path.join(TREASURY, name), "utf8")) as object;
    const built = await buildTreasury(files, network, readFake);
    expect(pinned("digests.json")).toHaveProperty(network, built.digest);
    expect(pinned("compiled.json")).toHaveProperty(network, built);
  });

  it("is what `tss treasury publish` publishes on each network, and no other module", async () => {
    for (const network of MOVE_NETWORKS) {
      const { digest, ...built } = await buildTreasury(files, network, readFake);
      expect(treasuryPackageOf(network)).toEqual(built);
      expect(packageDigest(built)).toBe(digest);
      expect(packageDigest({ ...built, modules: built.modules.slice(1) })).not.toBe(digest);
    }
  });

  it("is published on a local network with only the ids of that network's Ika", () => {
    const local = getNetworkConfig("mainnet").packages;
    const { modules, dependencies } = localTreasuryPackage(local);
    const foreign = Object.values(getNetworkConfig("testnet").packages).map((id) => id.slice(2));
    const text = modules.map((module) => Buffer.from(module, "base64").toString("hex")).join();
    expect(foreign.filter((id) => text.includes(id) || dependencies.includes(`0x${id}`))).toEqual([]);
    expect(dependencies).toContain(local.ikaDwallet2pcMpcPackage);
  });

  it("has another digest when one constant changes", async () => {
    const changed = withSource("const MAX_BATCH: u64 = 100", "const MAX_BATCH: u64 = 101");
    const { digest } = await buildTreasury(changed, "mainnet", readFake);
    expect(digest).toMatch(/^[0-9a-f]{64}$/);
    expect(digest).not.toBe((await buildTreasury(files, "mainnet", readFake)).digest);
  });

  it("is refused if it calls the coordinator with an argument too few", async () => {
    const broken = withSource("        option::none(),\n", "");
    await expect(buildTreasury(broken, "mainnet", readFake)).rejects.toThrow("request_dwallet_dkg");
  });

  it("is refused for a warning and for a lint", async () => {
    const unused = withSource("const VERSION: u64 = 1;", "const VERSION: u64 = 1;\nconst UNUSED: u64 = 1;");
    await expect(buildTreasury(unused, "mainnet", readFake)).rejects.toThrow("unused constant");
    const [mutable, shared] = [
      "sui: Coin<SUI>, ctx: &mut TxContext) {",
      "sui: Coin<SUI>, ctx: &TxContext) {",
    ];
    const unlinted = withSource(mutable!, shared!);
    await expect(buildTreasury(unlinted, "mainnet", readFake)).rejects.toThrow("prefer '&mut TxContext'");
  });

  it("is refused with a dependency that it does not declare", async () => {
    const manifest = files["Move.toml"]!.replace(
      "[dependencies]",
      '[dependencies]\nother = { local = "../other" }',
    );
    await expect(buildTreasury({ ...files, "Move.toml": manifest }, "mainnet", readFake)).rejects.toThrow(
      "other",
    );
  });
});

describe("packages of one network", () => {
  const idsOf = (network: (typeof MOVE_NETWORKS)[number]) =>
    MOVE_PACKAGES.map((name) => publishedIds(name, network).publishedAt);

  it("are accepted together, and refused if one is of another network, missing or of an older version", () => {
    const [mainnet, testnet] = [idsOf("mainnet"), idsOf("testnet")];
    expect(() => assertOneNetwork(mainnet, "mainnet")).not.toThrow();
    expect(() => assertOneNetwork(mainnet.toReversed(), "mainnet")).not.toThrow();
    expect(() => assertOneNetwork(mainnet.with(2, testnet[2]!), "mainnet")).toThrow(testnet[2]);
    expect(() => assertOneNetwork(mainnet.slice(0, -1), "mainnet")).toThrow(mainnet.at(-1));
    const { originalId } = publishedIds("ika_dwallet_2pc_mpc", "mainnet");
    expect(() => assertOneNetwork(mainnet.with(4, originalId), "mainnet")).toThrow(originalId);
  });

  it("are distinguished by their lock files", () => {
    const lockOf = (network: (typeof MOVE_NETWORKS)[number]) =>
      `[move]\nversion = 3\n\n[env]\n\n[env.${network}]\noriginal-published-id = "${publishedIds("ika", network).originalId}"\n`;
    expect(() => assertLockedId(lockOf("mainnet"), "ika", "mainnet")).not.toThrow();
    expect(() => assertLockedId(lockOf("testnet"), "ika", "mainnet")).toThrow("no address for mainnet");
    const mixed = lockOf("testnet").replace("[env.testnet]", "[env.mainnet]");
    expect(() => assertLockedId(mixed, "ika", "mainnet")).toThrow(publishedIds("ika", "testnet").originalId);
  });
});
