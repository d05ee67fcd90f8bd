/** What a Treasury keeps of a dWallet, and where. */
import { bcs } from "@mysten/sui/bcs";
import { blake2b } from "@noble/hashes/blake2.js";
import { expect, it } from "vitest";
import {
  custodyPlaces,
  parseHeldCapId,
  parseHeldDWallet,
  parseNextNonce,
  TreasuryDWallet,
} from "../../../src/protocol/chain/treasury-custody.ts";
import { custodyEntries, treasuryContent } from "../../support/chain/treasury-bytes.ts";

const id = (byte: string): string => `0x${byte.repeat(32)}`;
const [TREASURY, DWALLET, OWNER, CAP] = [id("11"), id("22"), id("33"), id("44")];

/** Encodes a type of the Sui framework as BCS does, from the definition of `TypeTag` in Move's core types. */
function frameworkType(module: string, name: string, ...parameters: Buffer[]): Buffer {
  const text = (value: string) => Buffer.from([value.length, ...Buffer.from(value)]);
  const address = Buffer.concat([Buffer.alloc(31), Buffer.of(2)]);
  const head = Buffer.concat([Buffer.of(7), address, text(module), text(name), Buffer.of(parameters.length)]);
  return Buffer.concat([head, ...parameters]);
}

/** Derives the id of a dynamic field as Sui does: BLAKE2b of the parent, the name's length, the name and its type. */
function fieldId(parent: string, name: string, type: Buffer): string {
  const bytes = (hex: string) => Buffer.from(hex.slice(2), "hex");
  const length = Buffer.of(32, 0, 0, 0, 0, 0, 0, 0);
  const hashed = Buffer.concat([Buffer.of(0xf0), bytes(parent), length, bytes(name), type]);
  return `0x${Buffer.from(blake2b(hashed, { dkLen: 32 })).toString("hex")}`;
}

it("a dWallet's entries have the ids that Sui derives from the Treasury's tables", () => {
  const idType = frameworkType("object", "ID");
  const wrapped = frameworkType("dynamic_object_field", "Wrapper", idType);
  // The ids of the tables come from treasury-bytes.ts.
  expect(custodyPlaces(treasuryContent(TREASURY), DWALLET)).toEqual({
    treasuryId: TREASURY,
    capEntryId: fieldId(id("d1"), DWALLET, wrapped),
    importedKeyEntryId: fieldId(TREASURY, DWALLET, wrapped),
    dwalletEntryId: fieldId(id("d3"), DWALLET, idType),
    nonceEntryId: fieldId(id("d4"), DWALLET, idType),
  });
});

it("a dWallet's entries hold its owner, its curve, its capability and the next consent's number", () => {
  const custody = { dwalletId: DWALLET, owner: OWNER, capId: CAP, curveNumber: 2, nonce: 7n };
  const entries = custodyEntries(TREASURY, custody);
  const places = custodyPlaces(treasuryContent(TREASURY), DWALLET);
  expect(parseHeldDWallet(entries.get(places.dwalletEntryId)!)).toEqual({
    ...{ owner: OWNER, curveNumber: 2, isRefused: false, isReleaseAnnounced: false },
  });
  expect(parseHeldCapId(entries.get(places.capEntryId)!)).toBe(CAP);
  expect(parseNextNonce(entries.get(places.nonceEntryId))).toBe(7n);
  expect(parseNextNonce(undefined)).toBe(0n);
});

it("a record shows whether a release was announced, and whether the owner forbade it", () => {
  const head = [DWALLET, DWALLET].flatMap((address) => [...bcs.Address.serialize(address).toBytes()]);
  const parse = (more: { is_refused: boolean; release: { to: string; from_epoch: bigint } | null }) =>
    parseHeldDWallet(
      Uint8Array.from([...head, ...TreasuryDWallet.serialize({ curve: 0, owner: OWNER, ...more }).toBytes()]),
    );
  const release = { to: OWNER, from_epoch: 3n };
  expect(parse({ is_refused: true, release: null })).toMatchObject({
    ...{ isRefused: true, isReleaseAnnounced: false },
  });
  expect(parse({ is_refused: false, release })).toMatchObject({ isRefused: false, isReleaseAnnounced: true });
});
