import { readFileSync } from "node:fs";
import { getNetworkConfig, type IkaConfig } from "@ika.xyz/sdk";
import { fromBase64, fromHex, normalizeSuiAddress, toBase64, toHex } from "@mysten/sui/utils";
import { blake2b256 } from "../../../protocol/chain/sui-hash.ts";

/** Returns the Treasury's package as this version pins it for a public network. */
export function treasuryPackageOf(network: "testnet" | "mainnet"): MovePackage {
  const pinned = JSON.parse(readFileSync(COMPILED, "utf8")) as Record<typeof network, CompiledPackage>;
  const { modules, dependencies, digest } = pinned[network];
  const found = { modules, dependencies };
  // The file is part of this package. If the digest differs, the file was edited by hand.
  if (packageDigest(found) !== digest) throw new Error(`${COMPILED.pathname} does not have its own digest`);
  return found;
}

/**
 * Returns the Treasury's package for a local network: testnet's, with the package ids of the local network's Ika. A
 * compiled module refers to other packages by their 32-byte ids.
 */
export function localTreasuryPackage(packages: IkaConfig["packages"]): MovePackage {
  const { modules, dependencies } = treasuryPackageOf("testnet");
  const ids = newIds(getNetworkConfig("testnet").packages, packages);
  return {
    modules: modules.map((module) => {
      let hex = toHex(fromBase64(module));
      for (const [from, to] of ids) hex = hex.replaceAll(from.slice(2), to.slice(2));
      return toBase64(fromHex(hex));
    }),
    dependencies: dependencies.map((id) => ids.get(id) ?? id),
  };
}

/** A package as a transaction publishes it. */
export interface MovePackage {
  /** In base64. */
  readonly modules: readonly string[];
  /** The ids of the packages that it links to. */
  readonly dependencies: readonly string[];
}

/** Returns the digest of a package in hex, as Sui computes it: the order of modules and of dependencies does not matter. */
export function packageDigest({ modules, dependencies }: MovePackage): string {
  const parts = [
    ...modules.map((module) => toHex(blake2b256(fromBase64(module)))),
    ...dependencies.map((id) => normalizeSuiAddress(id).slice(2)),
  ].sort();
  return toHex(blake2b256(...parts.map((part) => fromHex(part))));
}

interface CompiledPackage extends MovePackage {
  readonly digest: string;
}

const COMPILED = new URL("../../../../move/treasury/compiled.json", import.meta.url);

function newIds(from: IkaConfig["packages"], to: IkaConfig["packages"]): ReadonlyMap<string, string> {
  const names = [
    "ikaPackage",
    "ikaCommonPackage",
    "ikaDwallet2pcMpcOriginalPackage",
    "ikaDwallet2pcMpcPackage",
  ] as const;
  return new Map(names.map((name) => [normalizeSuiAddress(from[name]), normalizeSuiAddress(to[name])]));
}
