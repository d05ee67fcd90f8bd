import { CoordinatorInnerDynamicField, CoordinatorModule } from "@ika.xyz/sdk";
import { fieldParts, u64Name } from "../../fullnode/objects/dynamic-fields.ts";
import {
  COORDINATOR_VERSION,
  GENESIS_SHARED,
  type GenesisObject,
  type GenesisOptions,
  genesisId,
} from "../addresses.ts";
import { coordinatorTypes } from "./coordinator-state.ts";
import { genesisNetworkKeysTableId, networkKeyObjects, newKeyOutputs } from "./network-keys.ts";
import { networkPricing } from "./prices.ts";
import { SUPPORTED_ALGORITHMS, SUPPORTED_CURVES } from "./support.ts";

/** Returns the coordinator, its inner state and the network encryption key with its DKG output. */
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
    ...networkKeyObjects({
      seed: options.seed,
      addresses: options.addresses,
      index: 0,
      ...newKeyOutputs(options.networkKeyOutputs, FIRST_EPOCH),
      epoch: FIRST_EPOCH,
    }),
  ];
}

export const FIRST_EPOCH = 1n;
const MAX_ACTIVE_SESSIONS = 100;
const ZEROS = new Uint8Array(64 * 1024);

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
  inner.dwallet_network_encryption_keys = { id: genesisNetworkKeysTableId(options.seed), size: "1" };
  inner.encryption_keys.id = id("encryption-keys");
  inner.presign_sessions.id = id("presign-sessions");
  inner.partial_centralized_signed_messages.id = id("partial-signatures");
  inner.extra_fields.id = id("extra-fields");
  const fees = inner.pricing_and_fee_manager;
  fees.validator_votes.id = id("pricing-votes");
  fees.current.pricing_map.contents = networkPricing();
  fees.default.pricing_map.contents = networkPricing();
  inner.support_config.supported_curves_to_signature_algorithms_to_hash_schemes.contents = supported();
  const bytes = CoordinatorInnerDynamicField.serialize(field).toBytes().subarray(40);
  const type = coordinatorTypes(dwalletPackageId).inner("DWalletCoordinatorInner");
  return {
    ...fieldParts(coordinatorId, u64Name(COORDINATOR_VERSION), type, bytes),
    owner: { kind: "object", parentId: coordinatorId },
  };
}

function supported() {
  return SUPPORTED_CURVES.map((curve) => ({
    key: curve,
    value: {
      contents: SUPPORTED_ALGORITHMS.filter((entry) => entry.curve === curve).map((entry) => ({
        key: entry.signatureAlgorithm,
        value: [...entry.hashSchemes],
      })),
    },
  }));
}
