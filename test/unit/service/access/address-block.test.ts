import { expect, it } from "vitest";
import {
  createAddressList,
  formatAddressBlock,
  hasHostBits,
  parseAddressBlock,
} from "../../../../src/service/access/address-block.ts";

it("a list of blocks has the addresses in them, of their own family, and no other text", () => {
  const isListed = createAddressList(["10.0.0.0/8", "2001:db8::/32", "192.0.2.7"]);
  for (const address of ["10.255.0.1", "192.0.2.7", "2001:db8:1::1"]) expect(isListed(address)).toBe(true);
  for (const other of ["11.0.0.1", "192.0.2.8", "2001:db9::1", "10.0.0", "localhost", ""])
    expect(isListed(other)).toBe(false);
  const all = createAddressList(["::/0"]);
  expect([all("2001:db8::1"), all("10.0.0.1")]).toEqual([true, false]);
  expect(() => createAddressList(["10.0.0.0/33"])).toThrow("neither an IP address nor a CIDR block");
});

it.each([
  ["10.0.0.0/8", "10.0.0.0/8", false],
  ["10.0.0.1/8", "10.0.0.1/8", true],
  ["10.0.0.1/32", "10.0.0.1", false],
  ["2001:DB8:0::/32", "2001:db8::/32", false],
  ["2001:db8::1/127", "2001:db8::1/127", true],
  ["2001:db8::1/128", "2001:db8::1", false],
  ["::ffff:10.0.0.0/104", "10.0.0.0/8", false],
  ["::ffff:1:2:3", "::ffff:1:2:3", false],
  ["1::ffff:5", "1::ffff:5", false],
  ["0.0.0.0/0", "0.0.0.0/0", false],
])("%s is the block %s, and has bits after its prefix: %s", (text, formatted, hasMore) => {
  const block = parseAddressBlock(text)!;
  expect([formatAddressBlock(block), hasHostBits(block)]).toEqual([formatted, hasMore]);
});

it.each([
  "10.0.0.0/33",
  "::/129",
  "::ffff:10.0.0.0/95",
  "10.0.0.0/",
  "10.0.0.0/-1",
  "10.0.0.0/8/8",
  "/8",
  "x",
])("%s is no block", (text) => {
  expect(parseAddressBlock(text)).toBeUndefined();
});
