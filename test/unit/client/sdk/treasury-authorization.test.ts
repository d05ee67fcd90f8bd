import { toBase58 } from "@mysten/sui/utils";
import { describe, expect, it } from "vitest";
import {
  fromAuthorization,
  type SignedTreasuryConsent,
  type TreasuryAuthorization,
  toAuthorization,
} from "../../../../src/client/sdk/custody/treasury-authorization.ts";

const id = (digit: string): string => `0x${digit.repeat(64)}`;
const leave: SignedTreasuryConsent = {
  ...{ action: "leave", treasuryId: id("1"), dwalletId: id("2"), recipient: id("3") },
  ...{ nonce: 4n, expiresEpoch: 9_999_999_999_999_999n },
  ...{ chain: new Uint8Array(32).fill(5), publicKey: new Uint8Array(32).fill(6) },
  signature: new Uint8Array(64).fill(7),
};
const { recipient: _, ...rest } = leave;
const refuse: SignedTreasuryConsent = { ...rest, action: "refuse" };

describe("an authorization", () => {
  it("is plain JSON, and is read as it was written", () => {
    for (const consent of [leave, refuse]) {
      const written = toAuthorization(consent);
      expect(JSON.parse(JSON.stringify(written))).toEqual(written);
      expect(fromAuthorization(written)).toEqual(consent);
    }
    expect(toAuthorization(leave)).toEqual({
      ...{ action: "leave", treasuryId: id("1"), dwalletId: id("2"), recipient: id("3") },
      ...{ chain: toBase58(leave.chain), nonce: "4", expiresEpoch: "9999999999999999" },
      ...{ publicKey: "06".repeat(32), signature: "07".repeat(64) },
    });
    expect("recipient" in toAuthorization(refuse)).toBe(false);
  });

  const written = toAuthorization(leave);
  it.each<[field: string, value: unknown]>([
    ["action", "stay"],
    ["action", undefined],
    ["treasuryId", "0x1"],
    ["treasuryId", undefined],
    ["dwalletId", id("G")],
    ["dwalletId", id("A")],
    ["recipient", undefined],
    ["recipient", "0x3"],
    ["chain", "0"],
    ["chain", undefined],
    ["chain", toBase58(new Uint8Array(31))],
    ["nonce", "01"],
    ["nonce", "-1"],
    ["nonce", ""],
    ["nonce", 4],
    ["nonce", "1".repeat(17)],
    ["nonce", "1 "],
    ["expiresEpoch", "1.5"],
    ["publicKey", "06".repeat(31)],
    ["publicKey", "0g".repeat(32)],
    ["publicKey", undefined],
    ["signature", "07".repeat(65)],
    ["signature", "7"],
  ])("with a malformed field is refused, and the error names it: %s %s", (field, value) => {
    const malformed = { ...written, [field]: value } as TreasuryAuthorization;
    expect(() => fromAuthorization(malformed)).toThrow(
      expect.objectContaining({ reason: "VALIDATION", metadata: { field } }),
    );
  });

  it("to refuse has no recipient", () => {
    const malformed = { ...toAuthorization(refuse), recipient: id("3") };
    expect(() => fromAuthorization(malformed)).toThrow(
      expect.objectContaining({ metadata: { field: "recipient" } }),
    );
  });

  it.each([undefined, null, "text", 1])("is an object: %s is refused", (value) => {
    expect(() => fromAuthorization(value as never)).toThrow(
      expect.objectContaining({ metadata: { field: "authorization" } }),
    );
  });

  it("may be the first one of its dWallet, for any epoch", () => {
    expect(fromAuthorization({ ...written, nonce: "0", expiresEpoch: "0" })).toMatchObject({
      ...{ nonce: 0n, expiresEpoch: 0n },
    });
  });
});
