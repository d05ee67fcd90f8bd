import { bcs } from "@mysten/sui/bcs";
import type { EpochAmounts } from "../../../protocol/chain/treasury-custody.ts";
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
  moveId,
  plainValue,
  u32,
} from "../../fullnode/execution/move-function.ts";
import { ID_TYPE } from "../../fullnode/objects/sui-types.ts";
import type { NetworkAddresses } from "../addresses.ts";
import { coordinatorTypes } from "../coordinator/coordinator-state.ts";
import { requestDkg } from "../coordinator/dwallets/dkg.ts";
import type { Charge, PaymentCoins } from "../coordinator/payment.ts";
import { registerSessionIdentifier } from "../coordinator/sessions.ts";
import { approveMessage } from "../coordinator/signing/approve-message.ts";
import { requestGlobalPresign, verifyPresignCap } from "../coordinator/signing/presign.ts";
import { requestSign } from "../coordinator/signing/sign.ts";
import { dwalletCap, heldDWallet, keepDWallet, keepPresign, takePresign } from "./custody.ts";
import { abortTreasury } from "./treasury-aborts.ts";
import { treasuryFunction } from "./treasury-call.ts";
import { emitTreasury } from "./treasury-events.ts";
import type { TreasuryCall } from "./treasury-state.ts";
import {
  assertVersion,
  giveBack,
  giveCap,
  TreasuryCap,
  TreasuryOperation,
  takeCeiling,
  treasuryOf,
  treasuryType,
  updateTreasury,
} from "./treasury-state.ts";

/** The amounts that an operator may spend, or has spent, in an epoch. */
export type Amounts = typeof EpochAmounts.$inferType;

/** Creates an OperatorCap for an address. */
export function addOperator(call: TreasuryCall, holder: string, expiresEpoch: bigint, limits: Amounts): void {
  const operator_cap_id = giveCap(call, "treasury::OperatorCap", holder);
  if (treasuryOf(call).operators.length >= MAX_OPERATORS)
    abortTreasury(call, "operators::add", "operators:TooMany");
  const expires_epoch = expiresEpoch.toString();
  updateTreasury(call, ({ operators }) => {
    operators.push({ cap_id: operator_cap_id, holder, expires_epoch, limits, epoch: "0", spent: nothing() });
  });
  emitTreasury(call, "operators::OperatorSet", { operator_cap_id, holder, expires_epoch, limits });
}

/** Sets the expiry and the limits of an operator. */
export function renewOperator(
  call: TreasuryCall,
  capId: string,
  expiresEpoch: bigint,
  limits: Amounts,
): void {
  const { holder } = treasuryOf(call).operators[positionOf(call, capId)]!;
  const expires_epoch = expiresEpoch.toString();
  updateTreasury(call, ({ operators }) => {
    Object.assign(operators[positionOf(call, capId)]!, { expires_epoch, limits });
  });
  emitTreasury(call, "operators::OperatorSet", { operator_cap_id: capId, holder, expires_epoch, limits });
}

export function revokeOperator(call: TreasuryCall, capId: string): void {
  const position = positionOf(call, capId);
  updateTreasury(call, ({ operators }) => {
    const last = operators.pop()!;
    if (position < operators.length) operators[position] = last;
  });
  emitTreasury(call, "operators::OperatorRevoked", { operator_cap_id: capId });
}

/** Aborts unless this sender may use the OperatorCap in this epoch. */
export function assertOperator(call: TreasuryCall, cap: WorkingObject): void {
  const { holder, expires_epoch } = treasuryOf(call).operators[positionOf(call, cap.id)]!;
  if (holder !== call.sender) abortTreasury(call, "operators::check", "operators:WrongHolder");
  if (call.epoch > BigInt(expires_epoch)) abortTreasury(call, "operators::check", "operators:Expired");
}

/** Adds amounts to an operator's spending. Aborts if the total exceeds the limits of this epoch. */
export function spend(
  call: TreasuryCall,
  capId: string,
  amounts: Partial<Record<keyof Amounts, bigint>>,
): void {
  const position = positionOf(call, capId);
  updateTreasury(call, ({ operators }) => {
    const operator = operators[position]!;
    if (BigInt(operator.epoch) !== call.epoch) {
      operator.epoch = call.epoch.toString();
      operator.spent = nothing();
    }
    for (const [kind, more] of Object.entries(amounts) as [keyof Amounts, bigint][]) {
      const total = BigInt(operator.spent[kind]) + more;
      if (total > BigInt(operator.limits[kind]))
        abortTreasury(call, "operators::added", "operators:OverLimit");
      operator.spent[kind] = total.toString();
    }
  });
}

const MAX_OPERATORS = 64;

function nothing(): Amounts {
  return { ika: "0", sui: "0", dkgs: "0", presigns: "0", signs: "0" };
}

function positionOf(call: TreasuryCall, capId: string): number {
  const position = treasuryOf(call).operators.findIndex(({ cap_id }) => cap_id === capId);
  return position >= 0 ? position : abortTreasury(call, "operators::position", "operators:UnknownOperator");
}

/** Returns the calls with which an operator has the Treasury pay for DKGs, presigns and signatures. */
export function operatorFunctions(addresses: NetworkAddresses): readonly MoveFunction[] {
  const operator = [
    borrowed(treasuryType(addresses, "treasury::OperatorCap")),
    borrowedMut(coordinatorTypes(addresses.dwalletPackageId).coordinator),
  ] as const;
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
      name: "pay_presigns",
      parameters: [...operator, moveId, u32, u32, bytesVector],
      returns: [`vector<${ID_TYPE}>`],
      run(call, cap, _coordinator, networkEncryptionKeyId, curve, signatureAlgorithm, sessions) {
        const { state, sender } = call;
        assertCap(call, cap);
        if (sessions.length === 0 || sessions.length > MAX_BATCH)
          abortTreasury(call, "treasury::pay_presigns", "treasury:BadBatch");
        const key = { op: TreasuryOperation.Presign, curve, signatureAlgorithm };
        const payment = takeCeiling(call, key, BigInt(sessions.length));
        const spentByAll = meter(state, payment);
        const ids = sessions.map((sessionBytes) => {
          const spent = meter(state, payment);
          const sessionIdentifier = registerSessionIdentifier(state, addresses, sender, sessionBytes);
          const request = { networkEncryptionKeyId, curve, signatureAlgorithm, sessionIdentifier };
          const { cap: presignCap } = requestGlobalPresign(state, addresses, request, payment);
          const presignId = keepPresign(call, presignCap);
          emitTreasury(call, "treasury::PresignPaid", {
            operator_cap_id: cap.id,
            presign_id: presignId,
            curve,
            signature_algorithm: signatureAlgorithm,
            ...spent(),
          });
          return presignId;
        });
        spend(call, cap.id, { ...spentByAll(), presigns: BigInt(sessions.length) });
        giveBack(call, payment);
        return [plainValue(`vector<${ID_TYPE}>`, bcs.vector(bcs.Address).serialize(ids).toBytes())];
      },
    }),
    treasuryFunction(addresses, {
      name: "pay_sign",
      parameters: [...operator, moveId, moveId, u32, u32, u32, bytes, bytes, bytes, bytes],
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
        if (heldDWallet(call, dwalletId).curve !== curve)
          abortTreasury(call, "treasury::pay_sign", "treasury:WrongCurve");
        const presignCap = takePresign(call, presignId);
        const key = { op: TreasuryOperation.Sign, curve, signatureAlgorithm };
        const payment = takeCeiling(call, key, 1n);
        const spent = meter(state, payment);
        const verified = verifyPresignCap(state, addresses, presignCap);
        const dwallet = dwalletCap(call, dwalletId);
        const approval = approveMessage(state, addresses, dwallet, signatureAlgorithm, hashScheme, message);
        const sessionIdentifier = registerSessionIdentifier(state, addresses, sender, sessionBytes);
        const request = { cap: verified, approval, userSignMessage, sessionIdentifier };
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
    }),
  ];
}

const MAX_BATCH = 100;

/** Aborts unless the sender may spend with this OperatorCap now. */
function assertCap(call: TreasuryCall, cap: WorkingObject): void {
  const at = "treasury::assert_operator";
  assertVersion(call);
  if (treasuryOf(call).paused) abortTreasury(call, at, "treasury:Paused");
  if (call.state.read(cap, TreasuryCap).treasury_id !== call.self.id)
    abortTreasury(call, at, "treasury:WrongTreasury");
  assertOperator(call, cap);
}

/** Returns a function that tells how much of a payment has been spent since this call. */
function meter(state: ExecutionState, payment: PaymentCoins): () => Charge {
  const ika = balanceOf(state, payment.ika);
  const sui = balanceOf(state, payment.sui);
  return () => ({ ika: ika - balanceOf(state, payment.ika), sui: sui - balanceOf(state, payment.sui) });
}

function idValue(id: string) {
  return plainValue(ID_TYPE, bcs.Address.serialize(id).toBytes());
}
