import { type Hex, isAddress, numberToHex } from "viem";
import { wrongParam } from "./rpc-error.ts";

/** A signed authorization of EIP-7702, in the form of JSON-RPC. */
export interface SignedAuthorization {
  readonly address: Hex;
  readonly chainId: Hex;
  readonly nonce: Hex;
  readonly yParity: Hex;
  readonly r: Hex;
  readonly s: Hex;
}

/**
 * Reads the authorizations of a transaction, which their accounts have signed elsewhere. Throws an RpcError that names
 * the field. An authorization for another chain would do nothing, so it is refused.
 */
export function readAuthorizations(
  value: unknown,
  chainId: number,
): readonly SignedAuthorization[] | undefined {
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_COUNT)
    throw wrongParam("authorizationList", `must be a list of 1 to ${MAX_COUNT} signed authorizations`);
  return value.map((each: unknown, index) => {
    const at = (name: string) => `authorizationList[${index}].${name}`;
    const given = (typeof each === "object" && each !== null ? each : {}) as Readonly<
      Record<string, unknown>
    >;
    const { address } = given;
    if (typeof address !== "string" || !isAddress(address, { strict: false }))
      throw wrongParam(at("address"), "must be an address");
    const chain = quantity(given["chainId"], at("chainId"));
    if (chain !== 0n && chain !== BigInt(chainId))
      throw wrongParam(at("chainId"), `must be 0x0 or the signer's chain ${numberToHex(chainId)}`);
    const nonce = quantity(given["nonce"], at("nonce"));
    if (nonce > BigInt(Number.MAX_SAFE_INTEGER)) throw wrongParam(at("nonce"), "is too large");
    // Older callers name the parity v.
    const parity = quantity(given["yParity"] ?? given["v"], at("yParity"));
    if (parity > 1n) throw wrongParam(at("yParity"), "must be 0x0 or 0x1");
    const [r, s] = [quantity(given["r"], at("r")), quantity(given["s"], at("s"))];
    return {
      address,
      chainId: numberToHex(chain),
      nonce: numberToHex(nonce),
      yParity: numberToHex(parity),
      r: numberToHex(r),
      s: numberToHex(s),
    };
  });
}

/** Converts an authorization for viem's serializer. */
export function toViemAuthorization({ address, chainId, nonce, yParity, r, s }: SignedAuthorization): object {
  const numbers = { chainId: Number(chainId), nonce: Number(nonce), yParity: Number(yParity) };
  return { address, ...numbers, r: word(r), s: word(s) };
}

function word(value: Hex): Hex {
  return numberToHex(BigInt(value), { size: 32 });
}

const MAX_COUNT = 16;

function quantity(value: unknown, name: string): bigint {
  if (typeof value !== "string" || !/^0x[0-9a-fA-F]{1,64}$/.test(value))
    throw wrongParam(name, "must be a quantity in hex, such as 0x1");
  return BigInt(value);
}
