import { bcs } from "@mysten/sui/bcs";
import {
  deriveDynamicFieldID,
  normalizeStructTag,
  normalizeSuiAddress,
  toBase58,
  toHex,
} from "@mysten/sui/utils";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  bytesName,
  fieldId,
  idName,
  u64Name,
} from "../../../../src/localnet/fullnode/objects/dynamic-fields.ts";
import {
  Coin,
  coinBalance,
  type Owner,
  objectBcs,
  ownerBcs,
} from "../../../../src/localnet/fullnode/objects/object.ts";
import { addressBytes, addressOfBytes } from "../../../../src/localnet/fullnode/objects/sui-types.ts";
import { encodeUleb128 } from "../../../../src/protocol/bytes.ts";

const anyAddress = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((value) => `0x${toHex(value)}`);
const anyOwner: fc.Arbitrary<Owner> = fc.oneof(
  anyAddress.map((address) => ({ kind: "address", address }) as const),
  anyAddress.map((parentId) => ({ kind: "object", parentId }) as const),
  fc.bigInt(0n, (1n << 64n) - 1n).map((initialVersion) => ({ kind: "shared", initialVersion }) as const),
);
const anyType = fc.constantFrom(
  normalizeStructTag("0x2::coin::Coin<0x2::sui::SUI>"),
  normalizeStructTag("0x2::coin::Coin<0xaa::ika::IKA>"),
  normalizeStructTag("0xbb::coordinator_inner::DWallet"),
  normalizeStructTag(
    "0x2::dynamic_field::Field<0x2::dynamic_object_field::Wrapper<0x2::object::ID>,0x2::object::ID>",
  ),
);

test("Sui's own decoder reads an object's bytes", () => {
  fc.assert(
    fc.property(
      anyAddress,
      anyOwner,
      anyType,
      fc.uint8Array({ maxLength: 300 }),
      (id, owner, type, contents) => {
        const object = {
          id,
          version: 7n,
          owner,
          type,
          contents,
          previousTransaction: toBase58(addressBytes(id)),
          storageRebate: 99n,
          field: undefined,
        };
        const decoded = bcs.Object.parse(objectBcs(object));
        expect(bcs.Object.serialize(decoded).toBytes()).toEqual(objectBcs(object));
        expect(Uint8Array.from(decoded.data.Move?.contents ?? [])).toEqual(Uint8Array.from(contents));
        expect(decoded.owner).toEqual(bcs.Owner.parse(bcs.Owner.serialize(ownerBcs(owner)).toBytes()));
        expect(decoded.previousTransaction).toBe(object.previousTransaction);
      },
    ),
  );
});

test("field ids equal those of the SDK", () => {
  fc.assert(
    fc.property(
      anyAddress,
      fc.bigInt(0n, (1n << 64n) - 1n),
      fc.uint8Array({ maxLength: 200 }),
      (parent, index, name) => {
        for (const field of [u64Name(index), bytesName(name), idName(parent), idName(parent, "address")]) {
          expect(fieldId(parent, field)).toBe(
            normalizeSuiAddress(deriveDynamicFieldID(parent, field.type, field.bytes)),
          );
        }
      },
    ),
  );
});

test("addresses and lengths are parsed back from their short forms", () => {
  fc.assert(
    fc.property(anyAddress, fc.nat({ max: 5_000_000 }), (address, length) => {
      expect(addressOfBytes(addressBytes(address))).toBe(address);
      expect(encodeUleb128(length)).toEqual(bcs.uleb128().serialize(length).toBytes());
    }),
  );
  expect(() => addressBytes("0x2")).toThrow("long form");
});

test("a coin's balance is read from its bytes", () => {
  fc.assert(
    fc.property(anyAddress, fc.bigInt(0n, (1n << 64n) - 1n), (id, balance) => {
      expect(coinBalance(Coin.serialize({ id, balance }).toBytes())).toBe(balance);
    }),
  );
});
