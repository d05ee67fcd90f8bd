import { fieldParts } from "../../fullnode/dynamic-fields.ts";
import type { Owner } from "../../fullnode/object.ts";
import { genesisId } from "../addresses.ts";
import { SUPPORTED_ALGORITHMS } from "../coordinator/supported-algorithms.ts";
import { GENESIS_SHARED, type GenesisObject, type GenesisOptions } from "../genesis-object.ts";
import {
  Ceiling,
  ceilingName,
  TREASURY_VERSION,
  Treasury,
  TreasuryCap,
  TreasuryOperation,
  treasuryType,
} from "./treasury-state.ts";

/** A funded Treasury with a ceiling for every operation, its AdminCap and its OperatorCaps. */
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
      ...fieldParts(ceilingsId, name, treasuryType(addresses, "Ceiling"), value),
      owner: { kind: "object", parentId: ceilingsId },
    };
  });
  const treasury = Treasury.serialize({
    id: treasuryId,
    version: TREASURY_VERSION,
    paused: false,
    ika: IKA_BALANCE,
    sui: SUI_BALANCE,
    operators: [...operatorCapIds],
    ceilings: { id: ceilingsId, size: ceilings.length },
    dwallet_caps: { id: id("dwallet-caps"), size: 0 },
    presign_caps: { id: id("presign-caps"), size: 0 },
    dwallet_curves: { id: id("dwallet-curves"), size: 0 },
  }).toBytes();
  const cap = (capId: string, name: string): GenesisObject => ({
    id: capId,
    type: treasuryType(addresses, name),
    contents: TreasuryCap.serialize({ id: capId, treasury_id: treasuryId }).toBytes(),
    owner,
  });
  return [
    { id: treasuryId, type: treasuryType(addresses, "Treasury"), contents: treasury, owner: GENESIS_SHARED },
    ...ceilings,
    cap(adminCapId, "AdminCap"),
    ...operatorCapIds.map((capId) => cap(capId, "OperatorCap")),
  ];
}

/** The Treasury's balance at genesis, in the smallest units. */
const IKA_BALANCE = 1_000_000_000_000_000n;
const SUI_BALANCE = 1_000_000_000_000_000n;
/** The price ceiling of every operation. */
const CEILING = { ika: 100_000_000n, sui: 20_000_000n } as const;

function ceilingKeys(): [op: number, curve: number, signatureAlgorithm: number][] {
  const curves = [...new Set(SUPPORTED_ALGORITHMS.map((entry) => entry.curve))];
  return [
    ...curves.map((curve): [number, number, number] => [TreasuryOperation.Dkg, curve, 0]),
    ...SUPPORTED_ALGORITHMS.flatMap(({ curve, signatureAlgorithm }): [number, number, number][] => [
      [TreasuryOperation.Presign, curve, signatureAlgorithm],
      [TreasuryOperation.Sign, curve, signatureAlgorithm],
    ]),
  ];
}
