/** The message that the owner of a dWallet signs for the Treasury. */
import { expect, it } from "vitest";
import { type TreasuryConsent, treasuryConsentBytes } from "../../../src/protocol/chain/treasury-custody.ts";

const id = (byte: string) => `0x${byte.repeat(32)}`;
const CONSENT: TreasuryConsent = {
  action: "leave",
  chain: new Uint8Array(32),
  treasuryId: id("00"),
  dwalletId: id("00"),
  recipient: id("00"),
  nonce: 0n,
  expiresEpoch: 0n,
};

it("A consent cannot be mistaken for another message of the same key: a key or an output of Ika, or a digest of Sui", () => {
  const [ENCRYPTION_KEY_TAG, OUTPUT_TAG, DIGEST_BYTES] = [0, 1, 32];
  for (const chain of [new Uint8Array(0), new Uint8Array(32)]) {
    const message = treasuryConsentBytes({ ...CONSENT, chain });
    expect([ENCRYPTION_KEY_TAG, OUTPUT_TAG]).not.toContain(message[0]);
    expect(message.length).toBeGreaterThan(DIGEST_BYTES);
  }
});
