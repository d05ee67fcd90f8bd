import { CoordinatorInnerDynamicField, CoordinatorModule } from "@ika.xyz/sdk";
import { bcs } from "@mysten/sui/bcs";
import { fieldParts, idName, objectFieldParts, u64Name } from "../../fullnode/dynamic-fields.ts";
import { COORDINATOR_VERSION, genesisId } from "../addresses.ts";
import { GENESIS_SHARED, type GenesisObject, type GenesisOptions } from "../genesis-object.ts";
import { coordinatorTypes, NetworkEncryptionKey } from "./coordinator-state.ts";
import { Protocol } from "./payment.ts";

/** The hash schemes of every pair of curve and signature algorithm, in the chain's numbers. */
export const SUPPORTED_ALGORITHMS: readonly {
  readonly curve: number;
  readonly signatureAlgorithm: number;
  readonly hashSchemes: readonly number[];
}[] = [
  { curve: 0, signatureAlgorithm: 0, hashSchemes: [0, 1, 2] },
  { curve: 0, signatureAlgorithm: 1, hashSchemes: [0] },
  { curve: 1, signatureAlgorithm: 0, hashSchemes: [0] },
  { curve: 2, signatureAlgorithm: 0, hashSchemes: [0] },
  { curve: 3, signatureAlgorithm: 0, hashSchemes: [0] },
];

/** Prices of this network, in the smallest units of IKA and SUI. */
const PRICES = {
  [Protocol.DwalletDkg]: { ika: 30_000_000n, sui: 4_000_000n, systemSui: 1_000_000n },
  [Protocol.Presign]: { ika: 5_000_000n, sui: 2_000_000n, systemSui: 1_000_000n },
  [Protocol.Sign]: { ika: 10_000_000n, sui: 2_000_000n, systemSui: 1_000_000n },
} as const;

const FIRST_EPOCH = 1n;
const MAX_ACTIVE_SESSIONS = 100;
/** The network stores outputs in pieces of this size. */
const CHUNK_BYTES = 5 * 1024;
const ZEROS = new Uint8Array(64 * 1024);

/** The coordinator, its inner state and the network encryption key with its DKG output. */
export function coordinatorGenesis(options: GenesisOptions): GenesisObject[] {
  const { coordinatorId, dwalletPackageId } = options.addresses;
  const types = coordinatorTypes(dwalletPackageId);
  const contents = CoordinatorModule.DWalletCoordinator.serialize({
    id: coordinatorId,
    version: COORDINATOR_VERSION,
    package_id: dwalletPackageId,
    new_package_id: null,
    migration_epoch: null,
  }).toBytes();
  return [
    { id: coordinatorId, type: types.coordinator, contents, owner: GENESIS_SHARED },
    innerState(options),
    ...networkKey(options),
  ];
}

function innerState(options: GenesisOptions): GenesisObject {
  const { coordinatorId, dwalletPackageId } = options.addresses;
  const id = (name: string) => genesisId(options.seed, `coordinator/${name}`);
  const field = CoordinatorInnerDynamicField.parse(ZEROS);
  const inner = field.value;
  inner.current_epoch = FIRST_EPOCH.toString();
  const sessions = inner.sessions_manager;
  sessions.registered_user_session_identifiers.id = id("session-identifiers");
  sessions.max_active_sessions_buffer = MAX_ACTIVE_SESSIONS.toString();
  for (const [name, keeper] of [
    ["user", sessions.user_sessions_keeper],
    ["system", sessions.system_sessions_keeper],
  ] as const) {
    keeper.sessions.id = id(`${name}-sessions`);
    keeper.session_events.id = id(`${name}-session-events`);
    keeper.next_session_sequence_number = "1";
  }
  inner.dwallets.id = id("dwallets");
  inner.dwallet_network_encryption_keys = { id: id("network-encryption-keys"), size: "1" };
  inner.encryption_keys.id = id("encryption-keys");
  inner.presign_sessions.id = id("presign-sessions");
  inner.partial_centralized_signed_messages.id = id("partial-signatures");
  inner.extra_fields.id = id("extra-fields");
  const fees = inner.pricing_and_fee_manager;
  fees.validator_votes.id = id("pricing-votes");
  fees.current.pricing_map.contents = pricing();
  fees.default.pricing_map.contents = pricing();
  inner.support_config.supported_curves_to_signature_algorithms_to_hash_schemes.contents = supported();
  const bytes = CoordinatorInnerDynamicField.serialize(field).toBytes().subarray(40);
  const type = coordinatorTypes(dwalletPackageId).inner("DWalletCoordinatorInner");
  return {
    ...fieldParts(coordinatorId, u64Name(COORDINATOR_VERSION), type, bytes),
    owner: { kind: "object", parentId: coordinatorId },
  };
}

/**
 * The network encryption key has no reconfiguration output: clients then derive their parameters from the network
 * DKG output alone.
 */
function networkKey(options: GenesisOptions): GenesisObject[] {
  const { networkEncryptionKeyId, dwalletPackageId } = options.addresses;
  const id = (name: string) => genesisId(options.seed, `coordinator/${name}`);
  const output = options.networkDkgPublicOutput;
  const tableId = id("network-dkg-output");
  const chunkCount = Math.ceil(output.length / CHUNK_BYTES);
  const chunks = Array.from({ length: chunkCount }, (_, index): GenesisObject => {
    const chunk = output.subarray(index * CHUNK_BYTES, (index + 1) * CHUNK_BYTES);
    const value = bcs.byteVector().serialize(chunk).toBytes();
    const owner = { kind: "object", parentId: tableId } as const;
    return { ...fieldParts(tableId, u64Name(BigInt(index)), "vector<u8>", value), owner };
  });
  const keysId = id("network-encryption-keys");
  const type = coordinatorTypes(dwalletPackageId).inner("DWalletNetworkEncryptionKey");
  const field = objectFieldParts(keysId, idName(networkEncryptionKeyId), networkEncryptionKeyId, type);
  const contents = NetworkEncryptionKey.serialize({
    id: networkEncryptionKeyId,
    dkg_at_epoch: FIRST_EPOCH,
    network_dkg_public_output: { contents: { id: tableId, size: chunkCount } },
    reconfiguration_public_outputs: { id: id("reconfiguration-outputs"), size: 0 },
    dkg_params_for_network: [],
    supported_curves: [...new Set(SUPPORTED_ALGORITHMS.map((entry) => entry.curve))],
    state: { NetworkDKGCompleted: true },
  }).toBytes();
  return [
    ...chunks,
    { ...field, owner: { kind: "object", parentId: keysId } },
    { id: networkEncryptionKeyId, type, contents, owner: { kind: "object", parentId: field.id } },
  ];
}

function pricing() {
  const curves = [...new Set(SUPPORTED_ALGORITHMS.map((entry) => entry.curve))];
  const entry = (curve: number, algorithm: number | null, protocol: keyof typeof PRICES) => ({
    key: { curve, signature_algorithm: algorithm, protocol },
    value: {
      fee_ika: PRICES[protocol].ika.toString(),
      gas_fee_reimbursement_sui: PRICES[protocol].sui.toString(),
      gas_fee_reimbursement_sui_for_system_calls: PRICES[protocol].systemSui.toString(),
    },
  });
  return [
    ...curves.map((curve) => entry(curve, null, Protocol.DwalletDkg)),
    ...SUPPORTED_ALGORITHMS.flatMap(({ curve, signatureAlgorithm }) => [
      entry(curve, signatureAlgorithm, Protocol.Presign),
      entry(curve, signatureAlgorithm, Protocol.Sign),
    ]),
  ];
}

function supported() {
  const curves = [...new Set(SUPPORTED_ALGORITHMS.map((entry) => entry.curve))];
  return curves.map((curve) => ({
    key: curve,
    value: {
      contents: SUPPORTED_ALGORITHMS.filter((entry) => entry.curve === curve).map((entry) => ({
        key: entry.signatureAlgorithm,
        value: [...entry.hashSchemes],
      })),
    },
  }));
}
