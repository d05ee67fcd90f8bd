import { bcs } from "@mysten/sui/bcs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Address, U64 } from "../../../src/protocol/chain/fast-bcs.ts";

describe("addresses and u64 in BCS", () => {
  const ours = bcs.struct("S", { a: Address, list: bcs.vector(U64), b: bcs.option(Address) });
  const sdks = bcs.struct("S", { a: bcs.Address, list: bcs.vector(bcs.u64()), b: bcs.option(bcs.Address) });
  const address = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => bcs.Address.parse(bytes));

  it("have the SDK's octets and values", () => {
    const value = fc.record({
      a: address,
      list: fc.array(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })),
      b: fc.option(address),
    });
    fc.assert(
      fc.property(value, (some) => {
        const octets = ours.serialize(some).toBytes();
        expect(octets).toEqual(sdks.serialize(some).toBytes());
        expect(ours.parse(octets)).toEqual(sdks.parse(octets));
      }),
    );
  });

  it.each(["0x2", "2", `0x${"AB".repeat(32)}`, Uint8Array.from({ length: 32 }, (_, i) => i)])(
    "an address may be written as %s, as the SDK allows it",
    (value) => {
      expect(Address.serialize(value).toBytes()).toEqual(bcs.Address.serialize(value).toBytes());
    },
  );

  it.each(["", "0xg", `0x${"0".repeat(65)}`, new Uint8Array(31)])("the address %s is refused", (value) => {
    expect(() => bcs.Address.serialize(value)).toThrow();
    expect(() => Address.serialize(value)).toThrow();
    expect(() => ours.serialize({ a: value, list: [], b: null })).toThrow();
  });

  it.each([-1n, 2n ** 64n])("the number %s is refused", (value) => {
    expect(() => U64.serialize(value)).toThrow(TypeError);
    expect(() => ours.serialize({ a: "0x2", list: [value], b: null })).toThrow(TypeError);
  });
});
