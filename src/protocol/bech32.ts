/** Which checksum: bech32 (BIP-173, witness version 0) or bech32m (BIP-350, versions 1 to 16). */
export type Bech32Variant = "bech32" | "bech32m";

/** A segregated-witness address (BIP-173, BIP-350) of a witness program under a human-readable part such as `bc`. */
export function encodeSegwitAddress(prefix: string, version: number, program: Uint8Array): string {
  const words = [version, ...toFiveBitWords(program)];
  const variant: Bech32Variant = version === 0 ? "bech32" : "bech32m";
  const all = [...words, ...checksum(prefix, words, variant)];
  return `${prefix}1${all.map((word) => ALPHABET[word]).join("")}`;
}

function toFiveBitWords(bytes: Uint8Array): number[] {
  const words: number[] = [];
  let buffer = 0;
  let bits = 0;
  for (const byte of bytes) {
    buffer = (buffer << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      words.push((buffer >>> bits) & 31);
    }
    buffer &= (1 << bits) - 1;
  }
  if (bits > 0) words.push((buffer << (5 - bits)) & 31);
  return words;
}

function checksum(prefix: string, words: readonly number[], variant: Bech32Variant): number[] {
  const codes = [...prefix].map((letter) => letter.charCodeAt(0));
  const expanded = [...codes.map((code) => code >> 5), 0, ...codes.map((code) => code & 31)];
  const constant = variant === "bech32" ? 1 : 0x2bc830a3;
  const rest = polymod([...expanded, ...words, 0, 0, 0, 0, 0, 0]) ^ constant;
  return [25, 20, 15, 10, 5, 0].map((shift) => (rest >>> shift) & 31);
}

/** The remainder in the checksum's BCH code (BIP-173, "Checksum"). */
function polymod(values: readonly number[]): number {
  let remainder = 1;
  for (const value of values) {
    const top = remainder >>> 25;
    remainder = ((remainder & 0x1ffffff) << 5) ^ value;
    for (const [bit, generator] of GENERATORS.entries()) {
      if (((top >>> bit) & 1) === 1) remainder ^= generator;
    }
  }
  return remainder;
}

const ALPHABET = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
const GENERATORS = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];
