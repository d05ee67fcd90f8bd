import { bytes, type MoveFunction, moveId, u32, u64 } from "../../fullnode/execution/move-function.ts";
import { ID_TYPE } from "../../fullnode/objects/sui-types.ts";
import type { NetworkAddresses } from "../addresses.ts";
import { registerSessionIdentifier } from "../coordinator/sessions.ts";
import { approveImportedKeyMessage, approveMessage } from "../coordinator/signing/approve-message.ts";
import { requestFutureSign, verifyPartialCap } from "../coordinator/signing/future-sign.ts";
import { verifyPresignCap } from "../coordinator/signing/presign.ts";
import { requestSignWithPartial } from "../coordinator/signing/sign-with-partial.ts";
import { curveOf, dwalletCap, importedKeyCap, isImportedKey, takePresign } from "./custody.ts";
import { keepHalf, takeHalf } from "./halves.ts";
import { assertCap, idValue, meter, operatorParameters } from "./operator-functions.ts";
import { spend } from "./operators.ts";
import { abortTreasury } from "./treasury-aborts.ts";
import { treasuryFunction } from "./treasury-call.ts";
import { emitTreasury } from "./treasury-events.ts";
import { giveBack, TreasuryOperation, takeCeiling } from "./treasury-state.ts";

/** Returns the calls with which an operator has the Treasury keep a user's half of a signature, and complete it later. */
export function halfFunctions(addresses: NetworkAddresses): readonly MoveFunction[] {
  const operator = operatorParameters(addresses);
  const signed = [moveId, moveId, u32, u32, u32, bytes] as const;
  return [
    treasuryFunction(addresses, {
      name: "pay_future_sign",
      parameters: [...operator, ...signed, bytes, u64, bytes, bytes],
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
        epochs,
        sessionBytes,
        requestRef,
      ) {
        const { state, sender } = call;
        assertCap(call, cap);
        if (curveOf(call, dwalletId) !== curve)
          abortTreasury(call, "treasury::pay_future_sign", "treasury:WrongCurve");
        const presignCap = takePresign(call, presignId);
        const key = { op: TreasuryOperation.FutureSign, curve, signatureAlgorithm };
        const payment = takeCeiling(call, key, 1n);
        const spent = meter(state, payment);
        const verified = verifyPresignCap(state, addresses, presignCap);
        const sessionIdentifier = registerSessionIdentifier(state, addresses, sender, sessionBytes);
        const request = { dwalletId, cap: verified, message, hashScheme, userSignMessage, sessionIdentifier };
        const halfCap = requestFutureSign(state, addresses, request, payment);
        keepHalf(call, halfCap, { dwalletId, presignId, epochs });
        emitTreasury(call, "treasury::FutureSignPaid", {
          operator_cap_id: cap.id,
          dwallet_id: dwalletId,
          presign_id: presignId,
          ...spent(),
          request_ref: requestRef,
        });
        spend(call, cap.id, { ...spent(), signs: 1n });
        giveBack(call, payment);
      },
    }),
    treasuryFunction(addresses, {
      name: "pay_partial_sign",
      parameters: [...operator, ...signed, bytes, bytes],
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
        sessionBytes,
        requestRef,
      ) {
        const { state, sender } = call;
        assertCap(call, cap);
        if (curveOf(call, dwalletId) !== curve)
          abortTreasury(call, "treasury::pay_partial_sign", "treasury:WrongCurve");
        const halfCap = takeHalf(call, dwalletId, presignId);
        const key = { op: TreasuryOperation.PartialSign, curve, signatureAlgorithm };
        const payment = takeCeiling(call, key, 1n);
        const spent = meter(state, payment);
        const verified = verifyPartialCap(state, addresses, halfCap);
        const sessionIdentifier = registerSessionIdentifier(state, addresses, sender, sessionBytes);
        const told = [signatureAlgorithm, hashScheme, message] as const;
        const isImported = isImportedKey(call, dwalletId);
        const approval = isImported
          ? approveImportedKeyMessage(state, addresses, importedKeyCap(call, dwalletId), ...told)
          : approveMessage(state, addresses, dwalletCap(call, dwalletId), ...told);
        const request = { cap: verified, approval, sessionIdentifier, isImportedKey: isImported };
        const signId = requestSignWithPartial(state, addresses, request, payment);
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
    }),
  ];
}
