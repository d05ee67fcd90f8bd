import { expect, it } from "vitest";
import * as kinds from "../../../../src/client/sdk/chain/object-kinds.ts";

it("the objects of Ika have the types that its packages give them", () => {
  const typeOf = ({ type }: kinds.ObjectKind) => (typeof type === "function" ? type("0xabc") : type.source);
  expect(typeOf(kinds.COORDINATOR)).toBe("0xabc::coordinator::DWalletCoordinator");
  expect(typeOf(kinds.COORDINATOR_INNER)).toBe(
    "0x2::dynamic_field::Field<u64,0xabc::coordinator_inner::DWalletCoordinatorInner>",
  );
  const inner = { DWallet: kinds.DWALLET, PresignSession: kinds.PRESIGN, DWalletCap: kinds.DWALLET_CAP };
  for (const [name, kind] of Object.entries({
    ...inner,
    DWalletNetworkEncryptionKey: kinds.NETWORK_KEY,
    EncryptedUserSecretKeyShare: kinds.ENCRYPTED_SHARE,
  }))
    expect(typeOf(kind)).toBe(`0xabc::coordinator_inner::${name}`);
  expect(typeOf(kinds.OUTPUT_CHUNK)).toBe("0x2::dynamic_field::Field<u64,vector<u8>>");
});

it.each([
  [kinds.TREASURY, `0x${"a".repeat(64)}::treasury::Treasury`, `0x${"a".repeat(64)}::other::Treasury`],
  [
    kinds.TREASURY_NONCE_ENTRY,
    `0x${"0".repeat(63)}2::dynamic_field::Field<0x2::object::ID, u64>`,
    `0x3::dynamic_field::Field<0x2::object::ID,u64>`,
  ],
  [
    kinds.TREASURY_DWALLET_ENTRY,
    `0x2::dynamic_field::Field<0x02::object::ID,0x${"b".repeat(64)}::custody::DWallet>`,
    `0x2::dynamic_field::Field<0x02::object::ID,0x${"b".repeat(64)}::custody::DWallet>>`,
  ],
])("the objects of a Treasury of any package are known by the end of their type", (kind, type, other) => {
  const pattern = kind.type as RegExp;
  expect([pattern.test(type), pattern.test(other)]).toEqual([true, false]);
});
