import { bcs } from "@mysten/sui/bcs";
import { fromHex, toBase64 } from "@mysten/sui/utils";
import { Address, U64 } from "../../../protocol/chain/fast-bcs.ts";
import { TreasuryObject } from "../../../protocol/chain/treasury-custody.ts";
import { ExecutionError, FailureKind } from "../../fullnode/execution/failures.ts";
import { type MoveCallContext, type MoveValue, objectValue } from "../../fullnode/execution/move-function.ts";
import { fieldParts } from "../../fullnode/objects/dynamic-fields.ts";
import { type Owner, PACKAGE_TYPE } from "../../fullnode/objects/object.ts";
import { SUI_FRAMEWORK } from "../../fullnode/objects/sui-types.ts";
import { ikaConfigOf } from "../../ika-config.ts";
import {
  GENESIS_SHARED,
  type GenesisObject,
  type GenesisOptions,
  genesisId,
  type NetworkAddresses,
} from "../addresses.ts";
import { SUPPORTED_ALGORITHMS } from "../coordinator/support.ts";
import { emitTreasury } from "./treasury-events.ts";
import { localTreasuryPackage, packageDigest } from "./treasury-package.ts";
import {
  Ceiling,
  ceilingName,
  NOBODY,
  TREASURY_VERSION,
  TreasuryCap,
  TreasuryOperation,
  treasuryType,
} from "./treasury-state.ts";

/** Returns a funded Treasury with a ceiling for every operation, its AdminCap and its OperatorCaps. */
export function treasuryGenesis(options: GenesisOptions): GenesisObject[] {
  const { addresses } = options;
  const { treasuryId, adminCapId, operatorCapIds } = addresses;
  const id = (name: string) => genesisId(options.seed, `treasury/${name}`);
  const owner: Owner = { kind: "address", address: options.hotWalletAddress };
  const ceilingsId = id("ceilings");
  const ceilings = ceilingKeys().map(([op, curve, algorithm]): GenesisObject => {
    const name = ceilingName(addresses, op, curve, algorithm);
    const value = Ceiling.serialize(CEILING).toBytes();
    return {
      ...fieldParts(ceilingsId, name, treasuryType(addresses, "treasury::Ceiling"), value),
      owner: { kind: "object", parentId: ceilingsId },
    };
  });
  const treasury = TreasuryObject.serialize({
    id: treasuryId,
    version: TREASURY_VERSION,
    paused: false,
    ika: IKA_BALANCE,
    sui: SUI_BALANCE,
    roles: { admin_cap_id: adminCapId, pauser: NOBODY, recovery: NOBODY, offer: null },
    operators: operatorCapIds.map((capId) => ({
      cap_id: capId,
      holder: options.hotWalletAddress,
      expires_epoch: NEVER,
      limits: EVERYTHING,
      epoch: 0,
      spent: NOTHING,
    })),
    ceilings: { id: ceilingsId, size: ceilings.length },
    custody: {
      dwallet_caps: { id: id("dwallet-caps"), size: 0 },
      presign_caps: { id: id("presign-caps"), size: 0 },
      dwallets: { id: id("dwallets"), size: 0 },
      nonces: { id: id("nonces"), size: 0 },
      announced: [],
      successor: null,
    },
  }).toBytes();
  const cap = (capId: string, name: "roles::AdminCap" | "treasury::OperatorCap"): GenesisObject => ({
    id: capId,
    type: treasuryType(addresses, name),
    contents: TreasuryCap.serialize({ id: capId, treasury_id: treasuryId }).toBytes(),
    owner,
  });
  return [
    {
      id: treasuryId,
      type: treasuryType(addresses, "treasury::Treasury"),
      contents: treasury,
      owner: GENESIS_SHARED,
    },
    ...ceilings,
    cap(adminCapId, "roles::AdminCap"),
    ...operatorCapIds.map((capId) => cap(capId, "treasury::OperatorCap")),
  ];
}

/** The Treasury's balance at genesis, in the smallest units. */
const IKA_BALANCE = 1_000_000_000_000_000n;
const SUI_BALANCE = 1_000_000_000_000_000n;
/** The maximum of a u64: an epoch that never comes, and a limit that is never reached. */
const NEVER = 2n ** 64n - 1n;
/** The limits of an operator in an epoch: a local network has none. */
const EVERYTHING = { ika: NEVER, sui: NEVER, dkgs: NEVER, presigns: NEVER, signs: NEVER } as const;
const NOTHING = { ika: 0, sui: 0, dkgs: 0, presigns: 0, signs: 0 } as const;
/** The price ceiling of every operation, in the smallest units. */
const CEILING = { ika: 100_000_000n, sui: 20_000_000n } as const;

function ceilingKeys(): [op: number, curve: number, signatureAlgorithm: number][] {
  const curves = [...new Set(SUPPORTED_ALGORITHMS.map((entry) => entry.curve))];
  return [
    ...curves.flatMap((curve): [number, number, number][] => [
      [TreasuryOperation.Dkg, curve, 0],
      [TreasuryOperation.Share, curve, 0],
      [TreasuryOperation.Import, curve, 0],
    ]),
    ...SUPPORTED_ALGORITHMS.flatMap(({ curve, signatureAlgorithm }): [number, number, number][] => [
      [TreasuryOperation.Presign, curve, signatureAlgorithm],
      [TreasuryOperation.Sign, curve, signatureAlgorithm],
      [TreasuryOperation.FutureSign, curve, signatureAlgorithm],
      [TreasuryOperation.PartialSign, curve, signatureAlgorithm],
    ]),
  ];
}

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
    type: PACKAGE_TYPE,
    owner: { kind: "immutable" },
    contents: fromHex(digest),
  });
  const addresses = { ...network, treasuryPackageId: packageId };
  const [treasuryId, adminCapId] = [state.newId(), state.newId()];
  const table = () => ({ id: state.newId(), size: 0 });
  const treasury = state.create({
    id: treasuryId,
    type: treasuryType(addresses, "treasury::Treasury"),
    owner: { kind: "shared", initialVersion: 0n },
    contents: TreasuryObject.serialize({
      id: treasuryId,
      version: TREASURY_VERSION,
      paused: false,
      ika: 0,
      sui: 0,
      roles: { admin_cap_id: adminCapId, pauser: NOBODY, recovery: NOBODY, offer: null },
      operators: [],
      ceilings: table(),
      custody: {
        dwallet_caps: table(),
        presign_caps: table(),
        dwallets: table(),
        nonces: table(),
        announced: [],
        successor: null,
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
    admin_cap_id: adminCapId,
    holder: sender,
  });
  const capId = state.newId();
  const upgradeCap = state.create({
    id: capId,
    type: `${SUI_FRAMEWORK}::package::UpgradeCap`,
    contents: UpgradeCap.serialize({ id: capId, package: packageId, version: 1, policy: 0 }).toBytes(),
  });
  return [objectValue(upgradeCap)];
}

interface PublishedModules {
  readonly modules: readonly Uint8Array[];
  readonly dependencies: readonly string[];
}

const UpgradeCap = bcs.struct("UpgradeCap", {
  id: Address,
  package: Address,
  version: U64,
  policy: bcs.u8(),
});
