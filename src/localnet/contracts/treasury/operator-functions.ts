import { bcs } from "@mysten/sui/bcs";
import { Address } from "../../../protocol/chain/fast-bcs.ts";
import {
  balanceOf,
  type ExecutionState,
  type WorkingObject,
} from "../../fullnode/execution/execution-state.ts";
import {
  address,
  borrowed,
  borrowedMut,
  bytes,
  bytesVector,
  type MoveFunction,
  type MoveValue,
  moveId,
  plainValue,
  u32,
} from "../../fullnode/execution/move-function.ts";
import { ID_TYPE } from "../../fullnode/objects/sui-types.ts";
import type { NetworkAddresses } from "../addresses.ts";
import { coordinatorTypes } from "../coordinator/coordinator-state.ts";
import { requestDkg } from "../coordinator/dwallets/dkg.ts";
import { requestImport } from "../coordinator/dwallets/imported-key.ts";
import { requestReEncryption } from "../coordinator/dwallets/share-requests.ts";
import type { Charge, PaymentCoins } from "../coordinator/payment.ts";
import { registerSessionIdentifier } from "../coordinator/sessions.ts";
import {
  type Approval,
  approveImportedKeyMessage,
  approveMessage,
} from "../coordinator/signing/approve-message.ts";
import {
  requestDwalletPresign,
  requestGlobalPresign,
  verifyPresignCap,
} from "../coordinator/signing/presign.ts";
import { requestSign } from "../coordinator/signing/sign.ts";
import {
  curveOf,
  dwalletCap,
  importedKeyCap,
  keepDWallet,
  keepImportedKey,
  keepPresign,
  takePresign,
} from "./custody.ts";
import { assertOperator, spend } from "./operators.ts";
import { abortTreasury } from "./treasury-aborts.ts";
import { treasuryFunction } from "./treasury-call.ts";
import { emitTreasury } from "./treasury-events.ts";
import type { TreasuryCall } from "./treasury-state.ts";
import {
  assertVersion,
  giveBack,
  TreasuryCap,
  TreasuryOperation,
  takeCeiling,
  treasuryOf,
  treasuryType,
} from "./treasury-state.ts";

/** Returns the calls with which an operator has the Treasury pay for what Ika does. */
export function operatorFunctions(addresses: NetworkAddresses): readonly MoveFunction[] {
  const operator = operatorParameters(addresses);
  return [
    treasuryFunction(addresses, {
      name: "pay_dkg",
      parameters: [...operator, moveId, u32, bytes, bytes, address, bytes, bytes, bytes, bytes],
      returns: [ID_TYPE],
      run(
        call,
        cap,
        _coordinator,
        networkEncryptionKeyId,
        curve,
        userDkgMessage,
        encryptedShareAndProof,
        encryptionKeyAddress,
        userPublicOutput,
        signerPublicKey,
        sessionBytes,
        requestRef,
      ) {
        const { state, sender } = call;
        assertCap(call, cap);
        const key = { op: TreasuryOperation.Dkg, curve, signatureAlgorithm: 0 };
        const payment = takeCeiling(call, key, 1n);
        const spent = meter(state, payment);
        const sessionIdentifier = registerSessionIdentifier(state, addresses, sender, sessionBytes);
        const created = requestDkg(
          state,
          addresses,
          {
            networkEncryptionKeyId,
            curve,
            userDkgMessage,
            encryptedShareAndProof,
            encryptionKeyAddress,
            userPublicOutput,
            signerPublicKey,
            sessionIdentifier,
          },
          payment,
        );
        emitTreasury(call, "treasury::DkgPaid", {
          operator_cap_id: cap.id,
          dwallet_id: created.dwalletId,
          dwallet_cap_id: created.cap.id,
          curve,
          owner: encryptionKeyAddress,
          ...spent(),
          request_ref: requestRef,
        });
        keepDWallet(call, created.cap, curve, encryptionKeyAddress);
        spend(call, cap.id, { ...spent(), dkgs: 1n });
        giveBack(call, payment);
        return [idValue(created.dwalletId)];
      },
    }),
    treasuryFunction(addresses, {
      name: "pay_import",
      parameters: [...operator, moveId, u32, bytes, bytes, address, bytes, bytes, bytes, bytes],
      returns: [ID_TYPE],
      run(
        call,
        cap,
        _coordinator,
        networkEncryptionKeyId,
        curve,
        userMessage,
        encryptedShareAndProof,
        encryptionKeyAddress,
        userPublicOutput,
        signerPublicKey,
        sessionBytes,
        requestRef,
      ) {
        const { state, sender } = call;
        assertCap(call, cap);
        const key = { op: TreasuryOperation.Import, curve, signatureAlgorithm: 0 };
        const payment = takeCeiling(call, key, 1n);
        const spent = meter(state, payment);
        const sessionIdentifier = registerSessionIdentifier(state, addresses, sender, sessionBytes);
        const created = requestImport(
          state,
          addresses,
          {
            networkEncryptionKeyId,
            curve,
            userMessage,
            encryptedShareAndProof,
            encryptionKeyAddress,
            userPublicOutput,
            signerPublicKey,
            sessionIdentifier,
          },
          payment,
        );
        emitTreasury(call, "treasury::ImportPaid", {
          operator_cap_id: cap.id,
          dwallet_id: created.dwalletId,
          dwallet_cap_id: created.cap.id,
          curve,
          owner: encryptionKeyAddress,
          ...spent(),
          request_ref: requestRef,
        });
        keepImportedKey(call, created.cap, curve, encryptionKeyAddress);
        spend(call, cap.id, { ...spent(), dkgs: 1n });
        giveBack(call, payment);
        return [idValue(created.dwalletId)];
      },
    }),
    treasuryFunction(addresses, {
      name: "pay_presigns",
      parameters: [...operator, moveId, u32, u32, bytesVector],
      returns: [`vector<${ID_TYPE}>`],
      run(call, cap, _coordinator, networkEncryptionKeyId, curve, signatureAlgorithm, sessions) {
        assertCap(call, cap);
        assertBatch(call, "treasury::pay_presigns", sessions);
        const request = { networkEncryptionKeyId, curve, signatureAlgorithm };
        return payPresigns(call, cap, { curve, signatureAlgorithm }, sessions, (sessionIdentifier, payment) =>
          requestGlobalPresign(call.state, addresses, { ...request, sessionIdentifier }, payment),
        );
      },
    }),
    treasuryFunction(addresses, {
      name: "pay_dwallet_presigns",
      parameters: [...operator, moveId, u32, bytesVector],
      returns: [`vector<${ID_TYPE}>`],
      run(call, cap, _coordinator, dwalletId, signatureAlgorithm, sessions) {
        assertCap(call, cap);
        assertBatch(call, "treasury::pay_dwallet_presigns", sessions);
        const key = { curve: curveOf(call, dwalletId), signatureAlgorithm };
        return payPresigns(call, cap, key, sessions, (sessionIdentifier, payment) => {
          const request = { dwalletId, signatureAlgorithm, sessionIdentifier };
          return requestDwalletPresign(call.state, addresses, request, payment);
        });
      },
    }),
    paySign(addresses, "pay_sign", (call, dwalletId, ...told) => {
      const dwallet = dwalletCap(call, dwalletId);
      return { isImportedKey: false, approval: approveMessage(call.state, addresses, dwallet, ...told) };
    }),
    paySign(addresses, "pay_imported_key_sign", (call, dwalletId, ...told) => {
      const key = importedKeyCap(call, dwalletId);
      return {
        isImportedKey: true,
        approval: approveImportedKeyMessage(call.state, addresses, key, ...told),
      };
    }),
    treasuryFunction(addresses, {
      name: "pay_share",
      parameters: [...operator, moveId, u32, address, bytes, moveId, bytes, bytes],
      run(
        call,
        cap,
        _coordinator,
        dwalletId,
        curve,
        encryptionKeyAddress,
        encryptedShareAndProof,
        sourceShareId,
        sessionBytes,
        requestRef,
      ) {
        const { state, sender } = call;
        assertCap(call, cap);
        if (curveOf(call, dwalletId) !== curve)
          abortTreasury(call, "treasury::pay_share", "treasury:WrongCurve");
        const payment = takeCeiling(call, { op: TreasuryOperation.Share, curve, signatureAlgorithm: 0 }, 1n);
        const spent = meter(state, payment);
        const sessionIdentifier = registerSessionIdentifier(state, addresses, sender, sessionBytes);
        requestReEncryption(
          state,
          addresses,
          { dwalletId, encryptionKeyAddress, encryptedShareAndProof, sourceShareId, sessionIdentifier },
          payment,
        );
        emitTreasury(call, "treasury::SharePaid", {
          operator_cap_id: cap.id,
          dwallet_id: dwalletId,
          recipient: encryptionKeyAddress,
          ...spent(),
          request_ref: requestRef,
        });
        spend(call, cap.id, { ...spent(), dkgs: 1n });
        giveBack(call, payment);
      },
    }),
  ];
}

const MAX_BATCH = 100;

function assertBatch(
  call: TreasuryCall,
  at: "treasury::pay_presigns" | "treasury::pay_dwallet_presigns",
  sessions: readonly Uint8Array[],
): void {
  if (sessions.length === 0 || sessions.length > MAX_BATCH) abortTreasury(call, at, "treasury:BadBatch");
}

/** Pays for one presign per session, and returns their ids. */
function payPresigns(
  call: TreasuryCall,
  cap: WorkingObject,
  { curve, signatureAlgorithm }: { readonly curve: number; readonly signatureAlgorithm: number },
  sessions: readonly Uint8Array[],
  request: (sessionIdentifier: WorkingObject, payment: PaymentCoins) => { readonly cap: WorkingObject },
): MoveValue[] {
  const { state, addresses, sender } = call;
  const count = BigInt(sessions.length);
  const payment = takeCeiling(call, { op: TreasuryOperation.Presign, curve, signatureAlgorithm }, count);
  const spentByAll = meter(state, payment);
  const ids = sessions.map((sessionBytes) => {
    const spent = meter(state, payment);
    const sessionIdentifier = registerSessionIdentifier(state, addresses, sender, sessionBytes);
    const presignId = keepPresign(call, request(sessionIdentifier, payment).cap);
    emitTreasury(call, "treasury::PresignPaid", {
      operator_cap_id: cap.id,
      presign_id: presignId,
      curve,
      signature_algorithm: signatureAlgorithm,
      ...spent(),
    });
    return presignId;
  });
  spend(call, cap.id, { ...spentByAll(), presigns: count });
  giveBack(call, payment);
  return [plainValue(`vector<${ID_TYPE}>`, bcs.vector(Address).serialize(ids).toBytes())];
}

/** Defines a function that pays for a signature, by the way in which it approves the message. */
function paySign(
  addresses: NetworkAddresses,
  name: "pay_sign" | "pay_imported_key_sign",
  approve: (
    call: TreasuryCall,
    dwalletId: string,
    signatureAlgorithm: number,
    hashScheme: number,
    message: Uint8Array,
  ) => { readonly approval: Approval; readonly isImportedKey: boolean },
): MoveFunction {
  return treasuryFunction(addresses, {
    name,
    parameters: [...operatorParameters(addresses), moveId, moveId, u32, u32, u32, bytes, bytes, bytes, bytes],
    returns: [ID_TYPE],
    run(
      call,
      cap,
      _coordinator,
      dwalletId,
      presignId,
      curve,
      signatureAlgorithm,
      hashScheme,
      message,
      userSignMessage,
      sessionBytes,
      requestRef,
    ) {
      const { state, sender } = call;
      assertCap(call, cap);
      if (curveOf(call, dwalletId) !== curve) abortTreasury(call, `treasury::${name}`, "treasury:WrongCurve");
      const presignCap = takePresign(call, presignId);
      const key = { op: TreasuryOperation.Sign, curve, signatureAlgorithm };
      const payment = takeCeiling(call, key, 1n);
      const spent = meter(state, payment);
      const verified = verifyPresignCap(state, addresses, presignCap);
      const approved = approve(call, dwalletId, signatureAlgorithm, hashScheme, message);
      const sessionIdentifier = registerSessionIdentifier(state, addresses, sender, sessionBytes);
      const request = { cap: verified, ...approved, userSignMessage, sessionIdentifier };
      const signId = requestSign(state, addresses, request, payment);
      emitTreasury(call, "treasury::SignPaid", {
        operator_cap_id: cap.id,
        sign_id: signId,
        dwallet_id: dwalletId,
        presign_id: presignId,
        ...spent(),
        request_ref: requestRef,
      });
      spend(call, cap.id, { ...spent(), signs: 1n });
      giveBack(call, payment);
      return [idValue(signId)];
    },
  });
}

/** An operator's cap, and the coordinator: the first parameters of every paying function after the Treasury. */
export function operatorParameters(addresses: NetworkAddresses) {
  return [
    borrowed(treasuryType(addresses, "treasury::OperatorCap")),
    borrowedMut(coordinatorTypes(addresses.dwalletPackageId).coordinator),
  ] as const;
}

/** Aborts unless the sender may spend with this OperatorCap now. */
export function assertCap(call: TreasuryCall, cap: WorkingObject): void {
  const at = "treasury::assert_operator";
  assertVersion(call);
  if (treasuryOf(call).paused) abortTreasury(call, at, "treasury:Paused");
  if (call.state.read(cap, TreasuryCap).treasury_id !== call.self.id)
    abortTreasury(call, at, "treasury:WrongTreasury");
  assertOperator(call, cap);
}

/** Returns a function that tells how much of a payment has been spent since this call. */
export function meter(state: ExecutionState, payment: PaymentCoins): () => Charge {
  const ika = balanceOf(state, payment.ika);
  const sui = balanceOf(state, payment.sui);
  return () => ({ ika: ika - balanceOf(state, payment.ika), sui: sui - balanceOf(state, payment.sui) });
}

/** Returns an id as a Move function returns it. */
export function idValue(id: string) {
  return plainValue(ID_TYPE, Address.serialize(id).toBytes());
}
