import { schnorr } from "@noble/curves/secp256k1.js";
import { ripemd160 } from "@noble/hashes/legacy.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, concatBytes } from "@noble/hashes/utils.js";
import { equalBytes } from "../../../protocol/bytes.ts";
import { invalid } from "../../sdk/checks.ts";
import type { MessageAlgorithm } from "../message-signer.ts";
import type { Input, Output, UnsignedTransaction } from "./psbt-transaction.ts";
import {
  legacyPreImage,
  publicKeyHashScript,
  readSighashType,
  taprootPreImage,
  witnessV0PreImage,
} from "./sighash.ts";

/**
 * Plans the signatures of a key in a transaction.
 *
 * @throws {TssError} VALIDATION when an input cannot be signed; the message names it, and says what it is.
 */
export function planInputs(
  transaction: UnsignedTransaction,
  publicKey: Uint8Array,
  { inputs: chosen, sighashTypes = [0, 1] }: InputChoice,
): PlannedInput[] {
  const { inputs } = transaction;
  const key = ownScripts(publicKey);
  const kindOf = (index: number) => {
    const spent = inputs[index]?.spent;
    return spent && key.kinds.get(bytesToHex(spent.script));
  };
  const own = [...inputs.keys()].filter((index) => kindOf(index) !== undefined);
  for (const index of chosen ?? inputs.keys()) {
    // An input of this key that no dWallet can sign: the signatures of the others would be wasted.
    const isLost = inputs[index] !== undefined && isTweaked(inputs[index], key);
    if (isLost || (chosen !== undefined && !own.includes(index)))
      throw invalid(`inputs[${index}]`, `${describeInput(inputs[index], key)}. ${SUPPORTED}`);
  }
  if (own.length === 0) {
    const shown = inputs
      .slice(0, SHOWN_INPUTS)
      .map((input, at) => `inputs[${at}] ${describeInput(input, key)}`);
    throw invalid("psbt", `has no input that pays to this key: ${shown.join("; ")}. ${SUPPORTED}`);
  }
  const open = own.filter((index) => !inputs[index]!.isSignedBy(publicKey));
  for (const index of chosen ?? [])
    if (!open.includes(index)) throw invalid(`inputs[${index}]`, "is already signed");
  return [...new Set(chosen ?? open)].map((index) => {
    const input = inputs[index]!;
    const kind = kindOf(index)!;
    const { amountSats } = input.spent!;
    const sighashByte = sighashByteOf(input, index, kind, sighashTypes);
    if (readSighashType(sighashByte)?.outputs === "single" && index >= transaction.outputs.length)
      throw invalid(`inputs[${index}]`, "asks for a signature of an output that does not exist");
    // Its signature commits to no amount: a wrong one would hide a fee for the miners.
    if (kind === "p2pkh" && !input.isProven)
      throw invalid(`inputs[${index}]`, "is P2PKH and lacks the whole transaction that it spends from");
    const message = preImageOf(transaction, index, kind, key.publicKeyHash, sighashByte);
    const redeemScript = kind === "p2sh-p2wpkh" ? key.witnessScript : undefined;
    return { index, kind, amountSats, sighashByte, algorithm: ALGORITHMS[kind], message, redeemScript };
  });
}

/** Selects the inputs to sign and the accepted sighash types. */
export interface InputChoice {
  /**
   * The indices of the inputs to sign. An input in this list that does not pay to the key, or already has its
   * signature, is an error. Default: all inputs that pay to the key and do not have its signature yet.
   */
  readonly inputs?: readonly number[] | undefined;
  /**
   * The accepted sighash types. Default: 0 and 1, which commit to the whole transaction. Any other type lets a third
   * party change it.
   */
  readonly sighashTypes?: readonly number[] | undefined;
}

/** The kinds of outputs whose inputs a dWallet signs. */
export type InputKind = "p2wpkh" | "p2sh-p2wpkh" | "p2pkh" | "p2tr";

export interface PlannedInput {
  readonly index: number;
  readonly kind: InputKind;
  readonly amountSats: bigint;
  readonly sighashByte: number;
  readonly algorithm: MessageAlgorithm;
  readonly message: Uint8Array;
  /** The script that the spent output contains the hash of. */
  readonly redeemScript: Uint8Array | undefined;
}

const ECDSA = {
  curve: "SECP256K1",
  signatureAlgorithm: "ECDSASecp256k1",
  hashScheme: "DoubleSHA256",
} as const;
const ALGORITHMS = {
  p2wpkh: ECDSA,
  "p2sh-p2wpkh": ECDSA,
  p2pkh: ECDSA,
  p2tr: { curve: "SECP256K1", signatureAlgorithm: "Taproot", hashScheme: "SHA256" },
} as const satisfies Record<InputKind, MessageAlgorithm>;

/** The inputs that an error describes if none can be signed. */
const SHOWN_INPUTS = 3;
const SUPPORTED =
  "A dWallet signs P2WPKH, P2SH-P2WPKH, P2PKH, and P2TR whose output key is the dWallet's own key without a tweak";

/** The output scripts of a key. */
interface OwnScripts {
  /** The kind of each output script that the key can spend, by its octets in hex. */
  readonly kinds: ReadonlyMap<string, InputKind>;
  readonly publicKeyHash: Uint8Array;
  /** The script of P2WPKH, which P2SH-P2WPKH contains the hash of. */
  readonly witnessScript: Uint8Array;
  readonly xOnlyKey: Uint8Array;
  /** The output script with the tweaked key of BIP-86, in hex. */
  readonly tweakedScript: string;
}

function ownScripts(publicKey: Uint8Array): OwnScripts {
  const publicKeyHash = hash160(publicKey);
  const witnessScript = concatBytes(Uint8Array.of(0, 20), publicKeyHash);
  const xOnlyKey = publicKey.subarray(1);
  const kinds = new Map<string, InputKind>([
    [bytesToHex(witnessScript), "p2wpkh"],
    [`a914${bytesToHex(hash160(witnessScript))}87`, "p2sh-p2wpkh"],
    [bytesToHex(publicKeyHashScript(publicKeyHash)), "p2pkh"],
    [`5120${bytesToHex(xOnlyKey)}`, "p2tr"],
  ]);
  const tweakedScript = `5120${bytesToHex(tweakedKey(xOnlyKey))}`;
  return { kinds, publicKeyHash, witnessScript, xOnlyKey, tweakedScript };
}

function hash160(bytes: Uint8Array): Uint8Array {
  return ripemd160(sha256(bytes));
}

/**
 * Returns the output key that wallets make from a key without scripts (BIP-341, BIP-86). A Schnorr signature commits to
 * the key that it is verified under, and the network signs under the dWallet's own key. So none of its signatures is
 * valid for this output key.
 */
function tweakedKey(xOnlyKey: Uint8Array): Uint8Array {
  const tweak = BigInt(`0x${bytesToHex(schnorr.utils.taggedHash("TapTweak", xOnlyKey))}`);
  const internal = schnorr.utils.lift_x(BigInt(`0x${bytesToHex(xOnlyKey)}`));
  const scalar = schnorr.Point.Fn.create(tweak);
  return internal.add(schnorr.Point.BASE.multiply(scalar)).toBytes(true).subarray(1);
}

/** Whether an input spends a Taproot output that was made from this key with a tweak. */
function isTweaked({ spent, internalKey }: Input, { kinds, xOnlyKey, tweakedScript }: OwnScripts): boolean {
  const script = bytesToHex(spent?.script ?? new Uint8Array());
  if (script === tweakedScript) return true;
  return internalKey !== undefined && equalBytes(internalKey, xOnlyKey) && kinds.get(script) !== "p2tr";
}

/** Says what an input is that this key cannot sign. */
function describeInput(input: Input | undefined, key: OwnScripts): string {
  if (input === undefined) return "does not exist";
  if (input.spent === undefined) return "lacks the output that it spends";
  if (isTweaked(input, key))
    return "pays to this key with a tweak, as BIP-86 and every wallet make it, and no dWallet can sign under a tweaked key";
  const script = bytesToHex(input.spent.script);
  return FORMS.find(([form]) => form.test(script))?.[1] ?? "spends a script of an unknown kind";
}

const FORMS: readonly (readonly [RegExp, string])[] = [
  [/^0014.{40}$/, "is P2WPKH of another key"],
  [/^76a914.{40}88ac$/, "is P2PKH of another key"],
  [/^a914.{40}87$/, "is P2SH of another key or script"],
  [/^0020.{64}$/, "is P2WSH"],
  [/^5120.{64}$/, "is P2TR of another key"],
  [/^(?:21.{66}|41.{130})ac$/, "is P2PK"],
];

function preImageOf(
  transaction: UnsignedTransaction,
  index: number,
  kind: InputKind,
  publicKeyHash: Uint8Array,
  sighashByte: number,
): Uint8Array {
  switch (kind) {
    case "p2wpkh":
    case "p2sh-p2wpkh": {
      const { amountSats } = transaction.inputs[index]!.spent!;
      return witnessV0PreImage(transaction, index, publicKeyHash, amountSats, sighashByte);
    }
    case "p2pkh":
      return legacyPreImage(transaction, index, publicKeyHash, sighashByte);
    case "p2tr":
      return taprootPreImage(transaction, index, spentOutputs(transaction), sighashByte);
  }
}

function sighashByteOf(
  { sighashType }: Input,
  index: number,
  kind: PlannedInput["kind"],
  allowed: readonly number[],
): number {
  const byte = sighashType ?? (kind === "p2tr" ? 0 : 1);
  if (readSighashType(byte) === undefined || (byte === 0 && kind !== "p2tr"))
    throw invalid(`inputs[${index}]`, `asks for the sighash type ${byte}, which does not exist`);
  if (!allowed.includes(byte))
    throw invalid(`inputs[${index}]`, `asks for the sighash type ${byte}, which is not allowed`);
  return byte;
}

/** Returns the outputs that all inputs spend. A Taproot signature commits to them. */
function spentOutputs({ inputs }: UnsignedTransaction): Output[] {
  return inputs.map(({ spent }, index) => {
    if (spent === undefined) throw invalid(`inputs[${index}]`, "lacks the output that it spends");
    return spent;
  });
}
