import { bytesToHex, type Hex, keccak256, numberToHex, parseTransaction } from "viem";

/**
 * Describes a signed transaction as Clef's `account_signTransaction` does: its octets, and its fields as a node gives
 * them.
 */
export function describeTransaction(signed: Uint8Array): { readonly raw: Hex; readonly tx: object } {
  const raw = bytesToHex(signed);
  // viem's type has the fields of the kinds apart.
  const parsed = parseTransaction(raw) as unknown as ParsedTransaction;
  const isLegacy = parsed.type === "legacy";
  return {
    raw,
    tx: {
      type: TYPES[parsed.type],
      chainId: numberToHex(parsed.chainId),
      nonce: numberToHex(parsed.nonce ?? 0),
      to: parsed.to ?? null,
      gas: numberToHex(parsed.gas ?? 0n),
      gasPrice: quantityOrNull(parsed.gasPrice),
      // A parser leaves out a fee of zero, which another type has not.
      maxFeePerGas: hasDynamicFee(parsed) ? numberToHex(parsed.maxFeePerGas ?? 0n) : null,
      maxPriorityFeePerGas: hasDynamicFee(parsed) ? numberToHex(parsed.maxPriorityFeePerGas ?? 0n) : null,
      value: numberToHex(parsed.value ?? 0n),
      input: parsed.data ?? "0x",
      ...(!isLegacy && { accessList: parsed.accessList ?? [] }),
      ...(parsed.authorizationList && { authorizationList: parsed.authorizationList.map(authorization) }),
      v: numberToHex(isLegacy ? parsed.v! : parsed.yParity!),
      r: withoutZeros(parsed.r),
      s: withoutZeros(parsed.s),
      ...(!isLegacy && { yParity: numberToHex(parsed.yParity!) }),
      hash: keccak256(raw),
    },
  };
}

interface ParsedTransaction {
  readonly type: keyof typeof TYPES;
  readonly chainId: number;
  readonly nonce?: number;
  readonly to?: Hex | null;
  readonly gas?: bigint;
  readonly gasPrice?: bigint;
  readonly maxFeePerGas?: bigint;
  readonly maxPriorityFeePerGas?: bigint;
  readonly value?: bigint;
  readonly data?: Hex;
  readonly accessList?: readonly object[];
  readonly authorizationList?: readonly ParsedAuthorization[];
  readonly v?: bigint;
  readonly yParity?: number;
  readonly r: Hex;
  readonly s: Hex;
}

interface ParsedAuthorization {
  readonly address: Hex;
  readonly chainId: number;
  readonly nonce: number;
  readonly yParity: number;
  readonly r: Hex;
  readonly s: Hex;
}

const TYPES = { legacy: "0x0", eip2930: "0x1", eip1559: "0x2", eip7702: "0x4" } as const;

function hasDynamicFee({ type }: ParsedTransaction): boolean {
  return type === "eip1559" || type === "eip7702";
}

function quantityOrNull(value: bigint | undefined): Hex | null {
  return value === undefined ? null : numberToHex(value);
}

function authorization({ address, chainId, nonce, yParity, r, s }: ParsedAuthorization): object {
  return {
    address,
    chainId: numberToHex(chainId),
    nonce: numberToHex(nonce),
    yParity: numberToHex(yParity),
    r: withoutZeros(r),
    s: withoutZeros(s),
  };
}

/** A quantity in JSON begins with no zero. */
function withoutZeros(hex: Hex): Hex {
  return numberToHex(BigInt(hex));
}
