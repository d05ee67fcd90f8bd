import { bcs } from "@mysten/sui/bcs";
import { fromHex, toBase64 } from "@mysten/sui/utils";
import { TreasuryObject } from "../../../protocol/treasury-objects.ts";
import { ExecutionError, FailureKind } from "../../fullnode/failures.ts";
import type { MoveCallContext } from "../../fullnode/move-function.ts";
import { type MoveValue, objectValue } from "../../fullnode/move-value.ts";
import { PACKAGE_TYPE } from "../../fullnode/object.ts";
import { SUI_FRAMEWORK } from "../../fullnode/sui-types.ts";
import { ikaConfigOf } from "../../ika-config.ts";
import type { NetworkAddresses } from "../addresses.ts";
import { emitTreasury } from "./treasury-events.ts";
import { localTreasuryPackage, packageDigest } from "./treasury-package.ts";
import { NOBODY, TREASURY_VERSION, TreasuryCap, treasuryType } from "./treasury-state.ts";

/**
 * Publishes the Treasury's package. The node cannot run bytecode, so it accepts exactly the pinned modules and serves
 * its own model of them under the new package's id. Like `treasury::init`, it shares an empty Treasury and sends its
 * AdminCap to the sender.
 */
export function publishTreasury(
  network: NetworkAddresses,
  { state, sender }: MoveCallContext,
  { modules, dependencies }: PublishedModules,
): readonly MoveValue[] {
  const digest = packageDigest({ modules: modules.map(toBase64), dependencies });
  if (digest !== packageDigest(localTreasuryPackage(ikaConfigOf(network).packages)))
    throw new ExecutionError(
      FailureKind.VM_VERIFICATION_OR_DESERIALIZATION_ERROR,
      "this node publishes only the Treasury's package of its own version",
    );
  const { id: packageId } = state.create({
    ...{ type: PACKAGE_TYPE, owner: { kind: "immutable" }, contents: fromHex(digest) },
  });
  const addresses = { ...network, treasuryPackageId: packageId };
  const [treasuryId, adminCapId] = [state.newId(), state.newId()];
  const table = () => ({ id: state.newId(), size: 0 });
  const treasury = state.create({
    id: treasuryId,
    type: treasuryType(addresses, "treasury::Treasury"),
    owner: { kind: "shared", initialVersion: 0n },
    contents: TreasuryObject.serialize({
      ...{ id: treasuryId, version: TREASURY_VERSION, paused: false, ika: 0, sui: 0 },
      roles: { admin_cap_id: adminCapId, pauser: NOBODY, recovery: NOBODY, offer: null },
      operators: [],
      ceilings: table(),
      custody: {
        ...{ dwallet_caps: table(), presign_caps: table(), dwallets: table(), nonces: table() },
        ...{ announced: [], successor: null },
      },
    }).toBytes(),
  });
  state.create({
    id: adminCapId,
    type: treasuryType(addresses, "roles::AdminCap"),
    owner: { kind: "address", address: sender },
    contents: TreasuryCap.serialize({ id: adminCapId, treasury_id: treasuryId }).toBytes(),
  });
  emitTreasury({ state, addresses, self: treasury }, "treasury::TreasuryCreated", {
    ...{ admin_cap_id: adminCapId, holder: sender },
  });
  const capId = state.newId();
  const upgradeCap = state.create({
    ...{ id: capId, type: `${SUI_FRAMEWORK}::package::UpgradeCap` },
    contents: UpgradeCap.serialize({ id: capId, package: packageId, version: 1, policy: 0 }).toBytes(),
  });
  return [objectValue(upgradeCap)];
}

interface PublishedModules {
  readonly modules: readonly Uint8Array[];
  readonly dependencies: readonly string[];
}

const UpgradeCap = bcs.struct("UpgradeCap", {
  id: bcs.Address,
  package: bcs.Address,
  version: bcs.u64(),
  policy: bcs.u8(),
});
