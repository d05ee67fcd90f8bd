import { BcsType } from "@mysten/sui/bcs";
import { normalizeSuiAddress } from "@mysten/sui/utils";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";

/**
 * An address or object id in BCS: the SDK's `bcs.Address`, and its octets and values. The SDK converts an address three
 * times for one write, and a transaction writes hundreds of them. Throws an Error if a value is no address.
 */
export const Address: BcsType<string, string | Uint8Array> = new BcsType({
  name: "Address",
  serializedSize: () => ADDRESS_BYTES,
  read: (reader) => `0x${bytesToHex(reader.readBytes(ADDRESS_BYTES))}`,
  write: (value, writer) => writer.writeBytes(addressOctets(value)),
});

const ADDRESS_BYTES = 32;

function addressOctets(value: string | Uint8Array): Uint8Array {
  const octets = typeof value === "string" ? hexToBytes(normalizeSuiAddress(value).slice(2)) : value;
  if (octets.length !== ADDRESS_BYTES || value === "")
    throw new Error(`Invalid Sui address ${String(value)}`);
  return octets;
}

/**
 * A u64 in BCS: the SDK's `bcs.u64()`, and its octets and values. It parses to a decimal text. Throws a TypeError if a
 * value does not fit.
 */
export const U64: BcsType<string, string | number | bigint> = new BcsType({
  name: "u64",
  serializedSize: () => 8,
  read: (reader) => {
    const low = reader.read32();
    const high = reader.read32();
    return high === 0 ? String(low) : String((BigInt(high) << HALF_BITS) | BigInt(low));
  },
  write: (value, writer) => {
    const number = BigInt(value);
    writer.write32(Number(number & LOW_HALF));
    writer.write32(Number(number >> HALF_BITS));
  },
  validate: (value) => {
    if (BigInt.asUintN(64, BigInt(value)) !== BigInt(value))
      throw new TypeError(`Invalid u64 value: ${value}`);
  },
});

const HALF_BITS = 32n;
const LOW_HALF = 0xffff_ffffn;
