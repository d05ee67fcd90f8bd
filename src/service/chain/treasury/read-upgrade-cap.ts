import { bcs } from "@mysten/sui/bcs";
import type { SuiGrpcClient } from "@mysten/sui/grpc";
import { Address, U64 } from "../../../protocol/chain/fast-bcs.ts";
import { networkTraits } from "../../../protocol/chain/network-traits.ts";

/**
 * Returns the current holder of a package's UpgradeCap, who can upgrade the package. It finds the cap in the
 * transaction that published the package.
 */
export async function readUpgradeCap(
  { core, network }: Pick<SuiGrpcClient, "core" | "network">,
  packageId: string,
): Promise<UpgradeCapHolder> {
  const { objects } = await core.getObjects({
    objectIds: [packageId],
    include: { previousTransaction: true },
  });
  const [found] = objects;
  if (found === undefined || found instanceof Error)
    return networkTraits(network).isDevelopment
      ? { kind: "built-in" }
      : { kind: "unknown", why: "the package was not found" };
  if (!found.previousTransaction) return { kind: "unknown", why: "the package has no transaction" };
  const published = await core
    .getTransaction({ digest: found.previousTransaction, include: { effects: true, objectTypes: true } })
    .catch(() => undefined);
  const changes = published?.Transaction?.effects.changedObjects ?? [];
  const types = published?.Transaction?.objectTypes ?? {};
  const capId = changes.find(({ objectId }) => isUpgradeCap(types[objectId]))?.objectId;
  if (capId === undefined)
    return { kind: "unknown", why: "the fullnode no longer has the transaction that published the package" };
  const [cap] = (await core.getObjects({ objectIds: [capId], include: { content: true } })).objects;
  if (cap === undefined || cap instanceof Error) return { kind: "destroyed", capId };
  const { version, policy } = UpgradeCap.parse(cap.content);
  const { owner } = cap;
  const holder = owner.$kind === "AddressOwner" ? owner.AddressOwner : `an object (${owner.$kind})`;
  return { kind: "held", capId, holder, version: BigInt(version), policy };
}

/** The state of a package's UpgradeCap. */
export type UpgradeCapHolder =
  | {
      readonly kind: "held";
      readonly capId: string;
      /** An address, or a description of an object that owns the cap. */
      readonly holder: string;
      /** The number of versions so far. */
      readonly version: bigint;
      /** The allowed changes: 0 for any compatible one, 128 for additions only, 192 for dependencies only. */
      readonly policy: number;
    }
  /** The cap no longer exists or is wrapped in another object, so its holder is unknown. */
  | { readonly kind: "destroyed"; readonly capId: string }
  /** A local network's own Treasury has no published package, and so no cap. */
  | { readonly kind: "built-in" }
  | { readonly kind: "unknown"; readonly why: string };

const UpgradeCap = bcs.struct("UpgradeCap", {
  id: Address,
  package: Address,
  version: U64,
  policy: bcs.u8(),
});

function isUpgradeCap(type: string | undefined): boolean {
  return type !== undefined && /^0x0*2::package::UpgradeCap$/.test(type);
}
