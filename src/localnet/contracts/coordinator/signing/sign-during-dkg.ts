import { CoordinatorInnerModule } from "@ika.xyz/sdk";
import type { ExecutionState, WorkingObject } from "../../../fullnode/execution/execution-state.ts";
import {
  borrowedMut,
  bytes,
  type MoveFunction,
  moveFunction,
  owned,
  u32,
} from "../../../fullnode/execution/move-function.ts";
import type { NetworkAddresses } from "../../addresses.ts";
import { abortInner } from "../aborts.ts";
import { checkNetworkKey, coordinatorTypes } from "../coordinator-state.ts";
import { checkHash } from "../support.ts";
import { takePresign, unpackCap } from "./take-presign.ts";

const { SignDuringDKGRequest } = CoordinatorInnerModule;

/** A signature that a DKG makes at once, as the SDK decodes it. */
export type SignWithDkg = typeof CoordinatorInnerModule.SignDuringDKGRequest.$inferType;

/** Returns the call whose result a DKG takes: a message that the new dWallet signs at once. */
export function signDuringDkgFunctions(addresses: NetworkAddresses): readonly MoveFunction[] {
  const types = coordinatorTypes(addresses.dwalletPackageId);
  const type = types.inner("SignDuringDKGRequest");
  return [
    moveFunction({
      packageId: addresses.dwalletPackageId,
      module: "coordinator",
      name: FUNCTION_NAME,
      parameters: [
        borrowedMut(types.coordinator),
        owned(types.inner("VerifiedPresignCap")),
        ...[u32, bytes, bytes],
      ] as const,
      returns: [type],
      run({ state }, _coordinator, cap, hashScheme, message, userSignMessage) {
        const request = prepare(state, addresses, cap, hashScheme, message, userSignMessage);
        const contents = SignDuringDKGRequest.serialize(request).toBytes();
        return [{ kind: "data", type, bytes: contents, copyable: false, droppable: false }];
      },
    }),
  ];
}

const FUNCTION_NAME = "sign_during_dkg_request";

/** Takes a global presign from the chain for the signature of a dWallet that does not exist yet. */
function prepare(
  state: ExecutionState,
  addresses: NetworkAddresses,
  cap: WorkingObject,
  hashScheme: number,
  message: Uint8Array,
  userSignMessage: Uint8Array,
): SignWithDkg {
  const contents = unpackCap(state, cap);
  if (contents.dwallet_id !== null) {
    abortInner(addresses.dwalletPackageId, FUNCTION_NAME, "OnlyGlobalPresignAllowed");
  }
  const presign = takePresign(state, addresses, FUNCTION_NAME, contents, undefined);
  const { curve, signatureAlgorithm, networkKeyId } = presign;
  checkHash(state, addresses, curve, signatureAlgorithm, hashScheme);
  if (networkKeyId !== undefined) checkNetworkKey(state, addresses, networkKeyId, curve, FUNCTION_NAME);
  return {
    presign_id: presign.id,
    presign: presign.output,
    curve,
    signature_algorithm: signatureAlgorithm,
    hash_scheme: hashScheme,
    message: Array.from(message),
    message_centralized_signature: Array.from(userSignMessage),
  };
}
