import { describe, expect, it } from "vitest";
import { addressBlock } from "../../../../src/service/access/address-block.ts";
import { createClientAddress } from "../../../../src/service/access/client-address.ts";

const PROXY = "10.0.0.1";
const addressOf = createClientAddress(["10.0.0.0/8", "192.0.2.7", "2001:db8:ffff::/48"]);
const via = (headers: Record<string, string>, peer = PROXY) => addressOf(peer, new Headers(headers));

describe("the address of a caller", () => {
  it.each([
    ["203.0.113.9", "203.0.113.9"],
    ["::ffff:203.0.113.9", "203.0.113.9"],
    ["2001:DB8:0::1", "2001:db8::1"],
    ["fe80::1%eth0", "fe80::1"],
  ])("is the peer's in canonical form: %s", (peer, address) => {
    expect(via({}, peer)).toBe(address);
    expect(createClientAddress([])(peer, new Headers())).toBe(address);
  });

  it("is the peer's, whatever the headers say, unless the peer is a trusted proxy", () => {
    const headers = { "x-forwarded-for": "198.51.100.1", forwarded: "for=198.51.100.2" };
    expect(via(headers, "203.0.113.9")).toBe("203.0.113.9");
    expect(createClientAddress([])(PROXY, new Headers(headers))).toBe(PROXY);
  });

  it.each([
    [{}, PROXY],
    [{ "x-forwarded-for": "203.0.113.9" }, "203.0.113.9"],
    [{ "x-forwarded-for": "198.51.100.1, 203.0.113.9" }, "203.0.113.9"],
    [{ "x-forwarded-for": "198.51.100.1, 203.0.113.9,10.2.3.4 , 192.0.2.7" }, "203.0.113.9"],
    [{ "x-forwarded-for": "no address, 203.0.113.9" }, "203.0.113.9"],
    [{ "x-forwarded-for": "10.9.9.9, 10.2.3.4" }, "10.9.9.9"],
    [{ "x-forwarded-for": "203.0.113.9:52100" }, "203.0.113.9"],
    [{ "x-forwarded-for": "2001:db8::9, 2001:db8:ffff::1" }, "2001:db8::9"],
    [{ "x-forwarded-for": "[2001:db8::9]:443" }, "2001:db8::9"],
    [{ forwarded: "for=203.0.113.9" }, "203.0.113.9"],
    [
      { forwarded: 'for=198.51.100.1;proto=http, by=10.1.1.1;For="203.0.113.9:80"; proto=https' },
      "203.0.113.9",
    ],
    [{ forwarded: 'for="[2001:db8::9]:4711";host="a,b", for=10.2.3.4' }, "2001:db8::9"],
    [{ forwarded: "for=203.0.113.9", "x-forwarded-for": "198.51.100.1, 203.0.113.9" }, "203.0.113.9"],
  ])("behind the trusted proxies %o is the right-most hop that is not one", (headers, address) => {
    expect(via(headers)).toBe(address);
  });

  it.each([
    { "x-forwarded-for": "203.0.113.9, unknown" },
    { "x-forwarded-for": "" },
    { "x-forwarded-for": "203.0.113.9," },
    { "x-forwarded-for": "203.0.113.999" },
    { "x-forwarded-for": "203.0.113.9:port" },
    { forwarded: "for=unknown" },
    { forwarded: 'for="_hidden", for=10.2.3.4' },
    { forwarded: "proto=https" },
    { forwarded: 'for="203.0.113.9' },
    { forwarded: "for=203.0.113.9", "x-forwarded-for": "198.51.100.1" },
  ])("is unknown from %o, which is refused", (headers) => {
    expect(() => via(headers)).toThrow(expect.objectContaining({ reason: "VALIDATION" }));
  });
});

describe("callers are limited", () => {
  it.each([
    ["203.0.113.9", "203.0.113.9"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:DB8:1:2::", "2001:db8:1:2::/64"],
    ["2001:db8::1", "2001:db8:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
  ])("%s as %s", (address, block) => {
    expect(addressBlock(address)).toBe(block);
  });
});
