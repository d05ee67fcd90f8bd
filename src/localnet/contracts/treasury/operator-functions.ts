import { bcs } from "@mysten/sui/bcs";
import { addField, addObject, idName } from "../../fullnode/dynamic-fields.ts";
import { balanceOf, type ExecutionState } from "../../fullnode/execution-state.ts";
import {
  address,
  borrowed,
  borrowedMut,
  bytes,
  bytesVector,
  type MoveFunction,
  moveFunction,
  moveId,
  u32,
} from "../../fullnode/move-function.ts";
import { plainValue } from "../../fullnode/move-value.ts";
import { ID_TYPE } from "../../fullnode/sui-types.ts";
import type { NetworkAddresses } from "../addresses.ts";
import { coordinatorTypes } from "../coordinator/coordinator-state.ts";
import { requestDkg } from "../coordinator/dkg.ts";
import type { Charge, PaymentCoins } from "../coordinator/payment.ts";
import { requestGlobalPresign, verifyPresignCap } from "../coordinator/presign.ts";
import { registerSessionIdentifier } from "../coordinator/sessions.ts";
import { approveMessage, requestSign } from "../coordinator/sign.ts";
import { heldCaps } from "./held-caps.ts";
import { DkgPaid, PresignPaid, SignPaid } from "./treasury-events.ts";
import {
  abortTreasury,
  assertOperator,
  emitTreasury,
  giveBack,
  Treasury,
  TreasuryOperation,
  takeCeiling,
  treasuryType,
} from "./treasury-state.ts";

/** The calls with which an operator makes the Treasury pay for DKG, presigns and signatures. */
export function operatorFunctions(addresses: NetworkAddresses): readonly MoveFunction[] {
  const operator = [
    borrowedMut(treasuryType(addresses, "Treasury")),
    borrowed(treasuryType(addresses, "OperatorCap")),
    borrowedMut(coordinatorTypes(addresses.dwalletPackageId).coordinator),
  ] as const;
  const treasury = { packageId: addresses.treasuryPackageId, module: "treasury" } as const;
  return [
    moveFunction({
      ...treasury,
      name: "pay_dkg",
      parameters: [...operator, moveId, u32, bytes, bytes, address, bytes, bytes, bytes, bytes],
      returns: [ID_TYPE],
      run(
        { state, sender },
        self,
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
        assertOperator(state, addresses, self, cap);
        const key = { op: TreasuryOperation.Dkg, curve, signatureAlgorithm: 0 };
        const payment = takeCeiling(state, addresses, self, key, 1n);
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
        const paid = DkgPaid.serialize({
          treasury_id: self.id,
          operator_cap_id: cap.id,
          dwallet_id: created.dwalletId,
          dwallet_cap_id: created.cap.id,
          curve,
          ...spent(),
          request_ref: requestRef,
        });
        emitTreasury(state, addresses, "DkgPaid", paid);
        state.update(self, Treasury, (value) => {
          addObject(state, value.dwallet_caps, idName(created.dwalletId), created.cap);
          addField(state, value.dwallet_curves, idName(created.dwalletId), "u32", u32Bytes(curve));
        });
        giveBack(state, self, payment);
        return [idValue(created.dwalletId)];
      },
    }),
    moveFunction({
      ...treasury,
      name: "pay_presigns",
      parameters: [...operator, moveId, u32, u32, bytesVector],
      returns: [`vector<${ID_TYPE}>`],
      run(
        { state, sender },
        self,
        cap,
        _coordinator,
        networkEncryptionKeyId,
        curve,
        signatureAlgorithm,
        sessions,
      ) {
        assertOperator(state, addresses, self, cap);
        if (sessions.length === 0 || sessions.length > MAX_BATCH)
          abortTreasury(addresses, "pay_presigns", "BadBatch");
        const key = { op: TreasuryOperation.Presign, curve, signatureAlgorithm };
        const payment = takeCeiling(state, addresses, self, key, BigInt(sessions.length));
        const ids = sessions.map((sessionBytes) => {
          const spent = meter(state, payment);
          const sessionIdentifier = registerSessionIdentifier(state, addresses, sender, sessionBytes);
          const request = { networkEncryptionKeyId, curve, signatureAlgorithm, sessionIdentifier };
          const { cap: presignCap, presignId } = requestGlobalPresign(state, addresses, request, payment);
          const paid = PresignPaid.serialize({
            treasury_id: self.id,
            operator_cap_id: cap.id,
            presign_id: presignId,
            curve,
            signature_algorithm: signatureAlgorithm,
            ...spent(),
          });
          emitTreasury(state, addresses, "PresignPaid", paid);
          state.update(self, Treasury, (value) => {
            addObject(state, value.presign_caps, idName(presignId), presignCap);
          });
          return presignId;
        });
        giveBack(state, self, payment);
        return [plainValue(`vector<${ID_TYPE}>`, bcs.vector(bcs.Address).serialize(ids).toBytes())];
      },
    }),
    moveFunction({
      ...treasury,
      name: "pay_sign",
      parameters: [...operator, moveId, moveId, u32, u32, u32, bytes, bytes, bytes, bytes],
      returns: [ID_TYPE],
      run(
        { state, sender },
        self,
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
        assertOperator(state, addresses, self, cap);
        const caps = heldCaps(state, addresses, self, dwalletId, presignId);
        if (caps.curve !== curve) abortTreasury(addresses, "pay_sign", "WrongCurve");
        const key = { op: TreasuryOperation.Sign, curve, signatureAlgorithm };
        const payment = takeCeiling(state, addresses, self, key, 1n);
        const spent = meter(state, payment);
        const verified = verifyPresignCap(state, addresses, caps.takePresign());
        const approval = approveMessage(
          state,
          addresses,
          caps.dwallet,
          signatureAlgorithm,
          hashScheme,
          message,
        );
        const sessionIdentifier = registerSessionIdentifier(state, addresses, sender, sessionBytes);
        const request = { cap: verified, approval, userSignMessage, sessionIdentifier };
        const signId = requestSign(state, addresses, request, payment);
        const paid = SignPaid.serialize({
          treasury_id: self.id,
          operator_cap_id: cap.id,
          sign_id: signId,
          dwallet_id: dwalletId,
          presign_id: presignId,
          ...spent(),
          request_ref: requestRef,
        });
        emitTreasury(state, addresses, "SignPaid", paid);
        giveBack(state, self, payment);
        return [idValue(signId)];
      },
    }),
  ];
}

const MAX_BATCH = 100;

/** Measures the spending of a payment from now on. */
function meter(state: ExecutionState, payment: PaymentCoins): () => Charge {
  const ika = balanceOf(state, payment.ika);
  const sui = balanceOf(state, payment.sui);
  return () => ({ ika: ika - balanceOf(state, payment.ika), sui: sui - balanceOf(state, payment.sui) });
}

function u32Bytes(value: number): Uint8Array {
  return bcs.u32().serialize(value).toBytes();
}

function idValue(id: string) {
  return plainValue(ID_TYPE, bcs.Address.serialize(id).toBytes());
}
