import { expect, it } from "vitest";
import { wipeOutput, wipeSecrets } from "../../../../src/client/crypto/plain-data.ts";

const bytes = () => Uint8Array.of(1, 2, 3);
const ZEROS = new Uint8Array(3);

it.each(["seed", "privateKey", "userSecretKeyShare", "decryptionKey", "signerSecretKey"])(
  "the secret of an input is overwritten after use, and nothing else is: %s",
  (name) => {
    const input = { [name]: bytes(), message: bytes() };
    wipeSecrets(input as never);
    expect(input).toEqual({ [name]: ZEROS, message: bytes() });
  },
);

it("an unused output is overwritten, whether it is bytes or has them", () => {
  const output = bytes();
  wipeOutput(output);
  expect(output).toEqual(ZEROS);
  const keys = { decryptionKey: bytes(), signerSecretKey: bytes(), address: "0x1" };
  wipeOutput(keys as never);
  expect(keys).toEqual({ decryptionKey: ZEROS, signerSecretKey: ZEROS, address: "0x1" });
  expect(() => wipeOutput(true)).not.toThrow();
});
