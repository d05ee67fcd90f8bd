import type { ParameterKind } from "./parameter-kinds.ts";

/**
 * The functions of `treasury::treasury` that the command calls, with their parameters after the Treasury and the
 * AdminCap. The command builds and decodes transactions by this one table, so that an operator reads exactly what the
 * bytes say.
 */
export const TREASURY_FUNCTIONS = {
  deposit: anyone("put coins into the Treasury", { ika: "ikaCoin", sui: "suiCoin" }),
  pause: { caller: "pauser", says: "pause the Treasury: it stops all payments", parameters: {} },
  leave: anyone("take a dWallet's capability out for its owner, who signed this", {
    dwallet: "id",
    chain: "bytes",
    recipient: "address",
    nonce: "count",
    expiresEpoch: "count",
    publicKey: "bytes",
    signature: "bytes",
  }),
  refuse_release: anyone("forbid permanently, for a dWallet's owner, that its capability is released", {
    dwallet: "id",
    chain: "bytes",
    nonce: "count",
    expiresEpoch: "count",
    publicKey: "bytes",
    signature: "bytes",
  }),
  new_operator: admin("create an OperatorCap and give it to an address", {
    holder: "address",
    ...operatorTerms(),
  }),
  renew_operator: admin("set the expiry and the limits of an OperatorCap", {
    operatorCap: "id",
    ...operatorTerms(),
  }),
  revoke_operator: admin("revoke an OperatorCap: it can spend nothing more", { operatorCap: "id" }),
  set_ceiling: admin("set the most that one operation may cost", {
    operation: "operation",
    curve: "curve",
    algorithm: "algorithm",
    ika: "ika",
    sui: "sui",
  }),
  set_paused: admin("pause or unpause the Treasury", { paused: "flag" }),
  drain: admin("take coins out of the Treasury", { ika: "ika", sui: "sui", to: "address" }),
  set_roles: admin("set who may pause, and who may replace a lost AdminCap", {
    pauser: "role",
    recovery: "role",
  }),
  offer_admin: admin("offer the administration to an address, which has to accept it", { to: "address" }),
  withdraw_admin_offer: admin("withdraw the offer of the administration", {}),
  accept_admin: {
    caller: "offered",
    says: "take over the administration: the previous AdminCap becomes invalid",
    parameters: {},
  },
  recover_admin: {
    caller: "recovery",
    says: "offer the administration to an address because the AdminCap is lost",
    parameters: { to: "address" },
  },
  announce_release: admin("announce that a dWallet's capability goes to an address", {
    dwallet: "id",
    recipient: "address",
  }),
  withdraw_release: admin("withdraw the announced release of a dWallet's capability", { dwallet: "id" }),
  release_dwallet: admin("send a dWallet's capability to the announced recipient", { dwallet: "id" }),
  release_presign: admin("send a presign's capability to an address", {
    presign: "id",
    recipient: "address",
  }),
  announce_successor: admin("announce that the capabilities go to another Treasury", {
    successor: "address",
  }),
  withdraw_successor: admin("withdraw the announced successor", {}),
  move_dwallets: admin("send the capabilities of dWallets to the successor", { dwallets: "ids" }),
  move_presigns: admin("send the capabilities of presigns to the successor", { presigns: "ids" }),
  take_in_dwallet: admin("take in a dWallet's capability that was sent to the Treasury", {
    capability: "received",
    curve: "curve",
    owner: "address",
  }),
  take_in_imported_key: admin("take in an imported key's capability that was sent to the Treasury", {
    capability: "received",
    curve: "curve",
    owner: "address",
  }),
  take_in_presign: admin("take in a presign's capability that was sent to the Treasury", {
    capability: "received",
  }),
  migrate: admin("move the Treasury to this version of its package", {}),
} as const satisfies Record<string, TreasuryFunction>;

export type TreasuryFunctionName = keyof typeof TREASURY_FUNCTIONS;

/** A function of the Treasury. */
export interface TreasuryFunction {
  readonly caller: TreasuryCaller;
  /** Its effect, for people. */
  readonly says: string;
  /** The parameters by name, in Move's order. */
  readonly parameters: Readonly<Record<string, ParameterKind>>;
}

/** The permitted sender: the AdminCap's holder, anyone, or the address with a role. */
export type TreasuryCaller = "admin" | "anyone" | "pauser" | "offered" | "recovery";

function admin<const P extends TreasuryFunction["parameters"]>(says: string, parameters: P) {
  return { caller: "admin", says, parameters } as const;
}

function anyone<const P extends TreasuryFunction["parameters"]>(says: string, parameters: P) {
  return { caller: "anyone", says, parameters } as const;
}

/** Returns the parameters that `new_operator` and `renew_operator` share. */
function operatorTerms() {
  return {
    expiresEpoch: "epoch",
    ika: "ika",
    sui: "sui",
    dkgs: "count",
    presigns: "count",
    signs: "count",
  } as const;
}
