import { CoordinatorInnerModule } from "@ika.xyz/sdk";
import { bcs } from "@mysten/sui/bcs";
import { Address } from "../../../../protocol/chain/fast-bcs.ts";
import type { ExecutionState, WorkingObject } from "../../../fullnode/execution/execution-state.ts";
import {
  borrowed,
  borrowedMut,
  borrowedStruct,
  coinMut,
  type MoveFunction,
  moveFunction,
  owned,
  plainValue,
  struct,
} from "../../../fullnode/execution/move-function.ts";
import { idName, removeObject } from "../../../fullnode/objects/dynamic-fields.ts";
import { ID_TYPE, SUI_TYPE } from "../../../fullnode/objects/sui-types.ts";
import type { NetworkAddresses } from "../../addresses.ts";
import { abortInner } from "../aborts.ts";
import { coordinatorTypes, PartialSignatureStruct, updateInner } from "../coordinator-state.ts";
import type { PaymentCoins } from "../payment.ts";
import type { Approval } from "./approve-message.ts";
import { partialSignature } from "./future-sign.ts";
import { startSign } from "./sign.ts";

const { MessageApproval, VerifiedPartialUserSignatureCap } = CoordinatorInnerModule;

/** Returns the calls that bring a partial signature and an approval of its message together. */
export function signWithPartialFunctions(addresses: NetworkAddresses): readonly MoveFunction[] {
  const types = coordinatorTypes(addresses.dwalletPackageId);
  const coordinator = { packageId: addresses.dwalletPackageId, module: "coordinator" } as const;
  const verified = types.inner("VerifiedPartialUserSignatureCap");
  const match = (name: string, approvalName: string) =>
    moveFunction({
      ...coordinator,
      name,
      parameters: [
        borrowed(types.coordinator),
        borrowed(verified),
        borrowedStruct(types.inner(approvalName)),
      ],
      returns: ["bool"],
      run({ state }, _coordinator, cap, approval) {
        const matches = isMatch(state, addresses, cap, MessageApproval.parse(approval));
        return [plainValue("bool", bcs.bool().serialize(matches).toBytes())];
      },
    });
  const sign = (name: string, approvalName: string, isImportedKey: boolean, returns: readonly string[]) =>
    moveFunction({
      ...coordinator,
      name,
      parameters: [
        borrowedMut(types.coordinator),
        owned(verified),
        struct(types.inner(approvalName)),
        owned(types.sessions("SessionIdentifier")),
        coinMut(addresses.ikaCoinType),
        coinMut(SUI_TYPE),
      ],
      returns,
      run({ state }, _coordinator, cap, approved, sessionIdentifier, ika, sui) {
        const approval = MessageApproval.parse(approved);
        const request = { functionName: name, cap, approval, sessionIdentifier, isImportedKey };
        const signId = signWithPartial(state, addresses, request, { ika, sui });
        return returns.map((type) => plainValue(type, Address.serialize(signId).toBytes()));
      },
    });
  const [own, imported] = ["MessageApproval", "ImportedKeyMessageApproval"] as const;
  return [
    match("match_partial_user_signature_with_message_approval", own),
    match("match_partial_user_signature_with_imported_key_message_approval", imported),
    sign(SIGN, own, false, []),
    sign(`${SIGN}_and_return_id`, own, false, [ID_TYPE]),
    sign(SIGN_IMPORTED, imported, true, []),
    sign(`${SIGN_IMPORTED}_and_return_id`, imported, true, [ID_TYPE]),
  ];
}

const SIGN = "request_sign_with_partial_user_signature";
const SIGN_IMPORTED = "request_imported_key_sign_with_partial_user_signature";

/** Completes a verified partial signature, for a Move call of another package. Returns the sign id. */
export function requestSignWithPartial(
  state: ExecutionState,
  addresses: NetworkAddresses,
  request: Omit<CompletedSign, "functionName">,
  payment: PaymentCoins,
): string {
  const functionName = request.isImportedKey ? SIGN_IMPORTED : SIGN;
  return signWithPartial(state, addresses, { ...request, functionName }, payment);
}

/** Returns true if the approval is for exactly what the user has half signed. */
function isMatch(
  state: ExecutionState,
  addresses: NetworkAddresses,
  cap: WorkingObject,
  approval: Approval,
): boolean {
  const { partial_centralized_signed_message_id: id } = state.read(cap, VerifiedPartialUserSignatureCap);
  const partial = state.read(partialSignature(state, addresses, id), PartialSignatureStruct);
  return (
    partial.dwallet_id === approval.dwallet_id &&
    Buffer.compare(Buffer.from(partial.message), Buffer.from(approval.message)) === 0 &&
    partial.signature_algorithm === approval.signature_algorithm &&
    partial.hash_scheme === approval.hash_scheme
  );
}

interface CompletedSign {
  readonly functionName: string;
  readonly cap: WorkingObject;
  readonly approval: Approval;
  readonly sessionIdentifier: WorkingObject;
  readonly isImportedKey: boolean;
}

/** Consumes the partial signature with its presign, and requests the signature. Returns the sign id. */
function signWithPartial(
  state: ExecutionState,
  addresses: NetworkAddresses,
  { cap, ...request }: CompletedSign,
  payment: PaymentCoins,
): string {
  const { dwalletPackageId } = addresses;
  const { functionName } = request;
  if (!isMatch(state, addresses, cap, request.approval)) {
    abortInner(dwalletPackageId, functionName, "MessageApprovalMismatch");
  }
  const { partial_centralized_signed_message_id: id } = state.read(cap, VerifiedPartialUserSignatureCap);
  const object = partialSignature(state, addresses, id);
  const partial = state.read(object, PartialSignatureStruct);
  if (partial.cap_id !== cap.id || partial.state.$kind !== "NetworkVerificationCompleted") {
    abortInner(dwalletPackageId, functionName, "IncorrectCap");
  }
  updateInner(state, addresses, (inner) =>
    removeObject(state, inner.partial_centralized_signed_messages, idName(id)),
  );
  state.remove(object);
  state.remove(cap);
  const started = {
    ...request,
    cap: partial.presign_cap,
    userSignMessage: partial.message_centralized_signature,
    isFutureSign: true,
  };
  return startSign(state, addresses, started, payment);
}
