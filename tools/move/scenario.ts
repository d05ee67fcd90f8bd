/** A sequence of calls to a Treasury, in Move and in the localnet's model. Only its last step may fail. */
export interface Scenario {
  /** The guarantee, as a sentence. */
  readonly name: string;
  readonly steps: readonly Step[];
  /** The failure of the last step; undefined if all steps succeed. */
  readonly fails?: Failure;
}

/** A module and an abort code. */
export type Failure = `${AbortModule} ${number}`;

/** The modules whose aborts callers of the Treasury see. */
export type AbortModule =
  | "treasury"
  | "operators"
  | "roles"
  | "custody"
  | "coordinator"
  | "coordinator_inner"
  | "sessions_manager"
  | "support_config"
  | "dynamic_field";

/** One step. Defaults: the Treasury's own objects, curve 0, algorithm 0. */
export type Step =
  | (Paid & {
      readonly do: "presigns";
      readonly count?: number;
      readonly curve?: number;
      readonly algorithm?: number;
    })
  | (Paid & {
      readonly do: "dkg";
      readonly curve?: number;
      /** The curve of the user's encryption key, or `none` if it is not registered. */
      readonly keyCurve?: number | "none";
    })
  | (Paid & {
      readonly do: "import";
      readonly curve?: number;
      /** Whether the user's encryption key is registered. */
      readonly userKey?: "registered" | "none";
    })
  /** Presigns that only one dWallet can use. */
  | (Omit<Paid, "networkKey"> & {
      readonly do: "dwallet presigns";
      readonly dwallet?: Known;
      readonly count?: number;
      readonly algorithm?: number;
    })
  | (Omit<Paid, "networkKey"> & {
      readonly do: "sign" | "sign with imported key";
      readonly dwallet?: Known;
      readonly presign?: Known;
      readonly curve?: number;
      readonly algorithm?: number;
      readonly hash?: number;
    })
  | (Omit<Paid, "networkKey"> & {
      readonly do: "share";
      readonly dwallet?: Known;
      readonly curve?: number;
      /** Whether the other user has an encryption key; default true. */
      readonly hasKey?: boolean;
      readonly source?: Known;
    })
  /** The Treasury keeps a user's half of a signature. */
  | (Omit<Paid, "networkKey"> & {
      readonly do: "future sign";
      readonly dwallet?: Known;
      readonly presign?: Known;
      readonly curve?: number;
      readonly algorithm?: number;
      readonly hash?: number;
      /** The number of epochs for which the Treasury keeps the half; default 2. */
      readonly epochs?: number;
    })
  /** The half with the last presign becomes a signature. */
  | (Omit<Paid, "networkKey"> & {
      readonly do: "partial sign";
      readonly dwallet?: Known;
      readonly presign?: Known;
      readonly curve?: number;
      readonly algorithm?: number;
      readonly hash?: number;
      /** The message that the Treasury approves: the one that the user has half signed, or another one. */
      readonly message?: "same" | "another";
    })
  /** Makes this many presigns, and a half with each. */
  | { readonly do: "halves"; readonly count: number }
  /** The network verifies the last half. */
  | { readonly do: "complete half" }
  /** The network makes the last presign, or makes the last dWallet, which its user accepts. */
  | { readonly do: "complete presign" | "activate dwallet" }
  | { readonly do: "pause curve"; readonly curve: number }
  /** Ika moves its coordinator to the next version of its package. */
  | { readonly do: "coordinator moves" }
  | { readonly do: "treasury version"; readonly version: number }
  | (Admin & { readonly do: "migrate" })
  | { readonly do: "deposit"; readonly amount: Amount }
  | (Admin & Limited & { readonly do: "new operator"; readonly holder?: Actor })
  | (Admin & Limited & { readonly do: "renew operator"; readonly operator?: Known })
  | (Admin & { readonly do: "revoke operator"; readonly operator?: Known })
  | { readonly do: "epochs pass"; readonly count: number }
  /** Sets the sender of the next steps. */
  | { readonly do: "act as"; readonly who: Actor }
  | (Admin & {
      readonly do: "ceiling";
      readonly op: Operation;
      readonly curve?: number;
      readonly algorithm?: number;
      readonly amount: Amount;
    })
  | (Admin & { readonly do: "pause"; readonly paused: boolean })
  | { readonly do: "pause as pauser" }
  | (Admin & { readonly do: "set roles"; readonly pauser?: Actor; readonly recovery?: Actor })
  | (Admin & { readonly do: "offer admin"; readonly to: Actor })
  | (Admin & { readonly do: "withdraw admin offer" })
  /** The sender becomes the administrator. */
  | { readonly do: "accept admin" }
  | { readonly do: "recover admin"; readonly to: Actor }
  | (Consented & { readonly do: "leave" | "refuse release" })
  | (Admin & {
      readonly do: "announce release" | "withdraw release" | "release dwallet";
      readonly dwallet?: Known;
    })
  | (Admin & { readonly do: "release presign"; readonly presign?: Known })
  | (Admin & { readonly do: "announce successor" | "withdraw successor" })
  | (Admin & { readonly do: "move dwallet"; readonly dwallet?: Known })
  | (Admin & { readonly do: "move presign"; readonly presign?: Known })
  /** The capability of the last dWallet or presign comes back to the Treasury. */
  | (Admin & { readonly do: "take in dwallet" | "take in imported key" | "take in presign" })
  /** Withdraws nothing. */
  | (Admin & { readonly do: "drain nothing" })
  /** Withdraws all except this amount. */
  | { readonly do: "keep"; readonly op: Operation; readonly amount: Amount }
  /** Withdraws one unit more than the balance. */
  | { readonly do: "overdraw"; readonly coin: "ika" | "sui" };

/** The Treasury's operations, indexed by their number. */
export const OPERATIONS = [
  "dkg",
  "presign",
  "sign",
  "share",
  "import",
  "future_sign",
  "partial_sign",
] as const;
export type Operation = (typeof OPERATIONS)[number];

/** An amount of IKA and one of SUI: a number of prices plus some units, or the greatest amount. */
export interface Amount {
  readonly ika: Units;
  readonly sui: Units;
}
export type Units = { readonly prices: number; readonly plus?: number } | "greatest";

/** The last one that the scenario has made, or one that the Treasury does not know. */
export type Known = "last" | "unknown";

interface Paid {
  readonly cap?: "own" | "foreign";
  readonly networkKey?: "own" | "unknown";
  /** Unused identifiers, the one of the last step, or one that is too short. */
  readonly sessions?: "fresh" | "repeated" | "short";
}

interface Admin {
  /** The administrator's own AdminCap, one of another Treasury, or the first one of this Treasury. */
  readonly admin?: "own" | "foreign" | "first";
}

/** The hot wallet sends all transactions unless a step says otherwise. */
export type Actor = "hot wallet" | "stranger";

interface Limited {
  /** The last epoch of the operator; the scenarios start in epoch 0. */
  readonly expiresEpoch?: number;
  /** The operator's limits per epoch: coins in prices, and numbers of operations. */
  readonly limits?: { readonly [kind in LimitKind]?: Units };
}

/** The kinds of an operator's limits. Operations have no price: their units are numbers. */
export const LIMIT_KINDS = ["ika", "sui", "dkgs", "presigns", "signs"] as const;
export type LimitKind = (typeof LIMIT_KINDS)[number];

/** A consent of the owner of a dWallet. */
export interface Consented {
  readonly dwallet?: Known;
  /** The number of consents that the owner has used before; default 0. */
  readonly nonce?: number;
  /** The last epoch of the consent; default 0. */
  readonly expiresEpoch?: number;
  /** The flaw of the signature. */
  readonly flaw?:
    | "of another key"
    | "for another recipient"
    | "for another Treasury"
    | "for another chain"
    | "for another action"
    | "with another nonce"
    | "with another expiry"
    | "of another dWallet"
    | "short";
}

/** Returns an amount in units of a coin with this price. */
export function unitsOf(units: Units, price: bigint): bigint {
  return units === "greatest" ? 2n ** 64n - 1n : BigInt(units.prices) * price + BigInt(units.plus ?? 0);
}
