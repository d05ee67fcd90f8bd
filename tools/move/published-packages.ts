import { getNetworkConfig } from "@ika.xyz/sdk";

/** The networks that the Treasury is built for. */
export const MOVE_NETWORKS = ["testnet", "mainnet"] as const;
export type MoveNetwork = (typeof MOVE_NETWORKS)[number];

/** The packages that the Treasury depends on, with the names of their manifests and of their addresses. */
export const MOVE_PACKAGES = [
  "move-stdlib",
  "sui-framework",
  "ika",
  "ika_common",
  "ika_dwallet_2pc_mpc",
] as const;
export type MovePackage = (typeof MOVE_PACKAGES)[number];

/** The ids of a package: of its first version, which names its types, and of the current version. */
export interface PublishedIds {
  readonly originalId: string;
  readonly publishedAt: string;
}

/** Returns the ids of a package on a network, from the SDK's table. */
export function publishedIds(name: MovePackage, network: MoveNetwork): PublishedIds {
  const { packages } = getNetworkConfig(network);
  switch (name) {
    case "move-stdlib":
      return neverUpgraded("0x1");
    case "sui-framework":
      return neverUpgraded("0x2");
    case "ika":
      return neverUpgraded(packages.ikaPackage);
    case "ika_common":
      return neverUpgraded(packages.ikaCommonPackage);
    case "ika_dwallet_2pc_mpc":
      return {
        originalId: packages.ikaDwallet2pcMpcOriginalPackage,
        publishedAt: packages.ikaDwallet2pcMpcPackage,
      };
  }
}

function neverUpgraded(id: string): PublishedIds {
  return { originalId: id, publishedAt: id };
}

/**
 * Returns the manifest of a package on a network. The manifests in Ika's repository have the address zero, and a build
 * would silently accept any mixture of networks, so the manifests of dependencies are never read.
 */
export function publishedManifest(name: MovePackage, ids: PublishedIds): string {
  const { title, address, needs } = MANIFESTS[name];
  return [
    "[package]",
    `name = "${title}"`,
    'edition = "2024"',
    `published-at = "${ids.publishedAt}"`,
    "[dependencies]",
    ...needs.map((need) => `${need} = { local = "../${need}" }`),
    "[addresses]",
    `${address} = "${ids.originalId}"`,
    "",
  ].join("\n");
}

const MANIFESTS: Readonly<
  Record<
    MovePackage,
    { readonly title: string; readonly address: string; readonly needs: readonly MovePackage[] }
  >
> = {
  "move-stdlib": { title: "MoveStdlib", address: "std", needs: [] },
  "sui-framework": { title: "Sui", address: "sui", needs: [] },
  ika: { title: "ika", address: "ika", needs: [] },
  ika_common: { title: "ika_common", address: "ika_common", needs: ["ika"] },
  ika_dwallet_2pc_mpc: {
    title: "ika_dwallet_2pc_mpc",
    address: "ika_dwallet_2pc_mpc",
    needs: ["ika", "ika_common"],
  },
};
