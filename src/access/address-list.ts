import { BlockList, isIP } from "node:net";
import { invalidField } from "../errors/service-error.ts";
import { formatAddressBlock, hasHostBits, parseAddressBlock } from "./address-block.ts";

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
