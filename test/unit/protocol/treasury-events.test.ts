import { bcs } from "@mysten/sui/bcs";
import { expect, it } from "vitest";
import { dwalletExits, isNotHeld, refusedReleases } from "../../../src/protocol/chain/treasury-custody.ts";

const id = (digit: string): string => `0x${digit.repeat(64)}`;
const event = (name: string, ...addresses: string[]) => ({
  type: `${id("f")}::${name}`,
  bcs: Uint8Array.from(addresses.flatMap((address) => [...bcs.Address.serialize(address).toBytes()])),
});

const left = event("custody::DWalletLeft", id("1"), id("2"), id("3"), id("4"), id("5"));
const refused = event("custody::ReleaseRefused", id("6"), id("7"), id("8"));
/** Events of other modules with the same names, which may have any content. */
const others = [event("treasury::DWalletLeft"), event("treasury::ReleaseRefused"), event("custody::Other")];

it("a transaction's exits are read from its events, among others", () => {
  expect(dwalletExits([...others, refused, left, left])).toEqual(
    Array(2).fill({
      treasuryId: id("1"),
      dwalletId: id("2"),
      dwalletCapId: id("3"),
      owner: id("4"),
      recipient: id("5"),
    }),
  );
});

it("a transaction's refusals of releases are read from its events, among others", () => {
  expect(refusedReleases([...others, left, refused])).toEqual([{ treasuryId: id("6"), dwalletId: id("7") }]);
});

it("one abort alone says that the Treasury does not hold a dWallet", () => {
  expect(isNotHeld({ module: "custody", code: 1 })).toBe(true);
  expect(isNotHeld({ module: "custody", code: 2 })).toBe(false);
  expect(isNotHeld({ module: "treasury", code: 1 })).toBe(false);
  expect(isNotHeld(undefined)).toBe(false);
});
