import { BlockList, isIP, isIPv6, SocketAddress } from "node:net";
import { invalidField } from "../platform/errors/service-error.ts";

/**
 * Returns the unit that limits apply to: a single IPv4 address, or the /64 of an IPv6 address, because one subscriber
 * can use any address of a /64.
 */
export function addressBlock(address: string): string {
  if (!isIPv6(address)) return address;
  return `${expand(address).slice(0, 4).join(":")}::/64`;
}

/** A single IP address, or all addresses with a common prefix. */
export interface AddressBlock {
  /** Canonical: IPv6 in lower case and shortened as RFC 5952 specifies, an IPv4-mapped IPv6 address as IPv4. */
  readonly address: string;
  readonly family: "ipv4" | "ipv6";
  /** The length of the prefix: 32 or 128 for a single address. */
  readonly prefixBits: number;
}

/**
 * Returns the canonical form of an IP address: no zone, an IPv4-mapped IPv6 address as IPv4. Undefined for anything
 * else.
 */
export function canonicalAddress(text: string): string | undefined {
  if (!isIPv6(text)) return isIP(text) === 4 ? text : undefined;
  const address = canonical(text);
  return /^::ffff:([\d.]+)$/.exec(address)?.[1] ?? address;
}

/** Reads an IP address or a CIDR block, such as `10.0.0.0/8`; undefined for anything else. */
export function parseAddressBlock(text: string): AddressBlock | undefined {
  const [, written = "", bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const address = canonicalAddress(written);
  if (address === undefined) return undefined;
  const family = isIPv6(address) ? "ipv6" : "ipv4";
  const allBits = ADDRESS_BITS[family];
  // The prefix of an IPv4-mapped IPv6 address includes 96 bits before the IPv4 address.
  const prefixBits = bits === undefined ? allBits : Number(bits) - (isIPv6(written) ? 128 - allBits : 0);
  return prefixBits < 0 || prefixBits > allBits ? undefined : { address, family, prefixBits };
}

/** True if the address of a block has bits set after its prefix, which makes the block ambiguous. */
export function hasHostBits({ address, family, prefixBits }: AddressBlock): boolean {
  const value =
    family === "ipv4"
      ? address.split(".").reduce((sum, octet) => (sum << 8n) | BigInt(octet), 0n)
      : expand(address).reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n);
  return BigInt.asUintN(ADDRESS_BITS[family] - prefixBits, value) !== 0n;
}

/** Formats a block: a single address alone, or an address with the length of its prefix. */
export function formatAddressBlock({ address, family, prefixBits }: AddressBlock): string {
  return prefixBits === ADDRESS_BITS[family] ? address : `${address}/${prefixBits}`;
}

const ADDRESS_BITS = { ipv4: 32, ipv6: 128 } as const;

/** Returns the eight groups of an IPv6 address. */
function expand(address: string): string[] {
  const [head = "", tail] = canonical(address).split("::");
  const groups = (text: string) => (text === "" ? [] : text.split(":").flatMap(groupsOf));
  const [front, back] = [groups(head), groups(tail ?? "")];
  return [...front, ...Array<string>(8 - front.length - back.length).fill("0"), ...back];
}

/** Returns the one group of a part, or the two groups of an IPv4 address at the end. */
function groupsOf(part: string): string[] {
  if (!part.includes(".")) return [part];
  const [a = 0, b = 0, c = 0, d = 0] = part.split(".").map(Number);
  return [a * 256 + b, c * 256 + d].map((group) => group.toString(16));
}

/** Returns an IPv6 address in lower case, shortened as RFC 5952 specifies. */
function canonical(address: string): string {
  return new SocketAddress({ address, family: "ipv6" }).address;
}

/**
 * Creates a check whether an address is in one of these addresses or CIDR blocks. The check returns false for a text
 * that is not an IP address. Throws for an invalid block.
 */
export function createAddressList(blocks: readonly string[]): (address: string) => boolean {
  // One list per family, because Node's BlockList counts every IPv4 address as part of `::/0`.
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const text of blocks) {
    const block = parseAddressBlock(text);
    if (block === undefined) throw new Error(`${text} is neither an IP address nor a CIDR block`);
    lists[block.family].addSubnet(block.address, block.prefixBits, block.family);
  }
  return (address) => {
    switch (isIP(address)) {
      case 4:
        return lists.ipv4.check(address, "ipv4");
      case 6:
        return lists.ipv6.check(address, "ipv6");
      default:
        return false;
    }
  };
}

/**
 * Returns the addresses and blocks of a request's field `allowed_addresses` in canonical form, without duplicates.
 * Throws VALIDATION, naming the item, for an invalid item and for a block with bits set after its prefix.
 */
export function readAllowedAddresses(texts: readonly string[]): string[] {
  const blocks = texts.map((text, index) => {
    const field = `allowed_addresses[${index}]`;
    const block = parseAddressBlock(text);
    if (block === undefined) throw invalidField(field, "must be an IP address or a CIDR block");
    if (hasHostBits(block)) throw invalidField(field, "must have no bits behind the block's prefix");
    return formatAddressBlock(block);
  });
  return [...new Set(blocks)];
}
