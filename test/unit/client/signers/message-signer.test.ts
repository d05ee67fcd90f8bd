import { expect, test } from "vitest";
import { createMessageSigner } from "../../../../src/client/signers/message-signer.ts";
import { knownKeyClient } from "../../../support/crypto/known-key-client.ts";

const ALGORITHM = { curve: "ED25519", signatureAlgorithm: "EdDSA", hashScheme: "SHA512" } as const;
const GIVEN = new TextEncoder().encode("pay 1");

test("a message is signed as it was passed, even if its buffer changes while the chain is read", async () => {
  const client = knownKeyClient("ED25519", new Uint8Array(32).fill(0x3c));
  const signer = createMessageSigner(client, client.key, ALGORITHM);
  const buffer = Uint8Array.from(GIVEN);
  const signatures = [signer.sign(buffer), signer.signAll([buffer])];
  buffer.fill(0);
  await Promise.all(signatures);
  expect(client.asked.map(({ args }) => args.message)).toEqual([GIVEN, GIVEN]);
});
