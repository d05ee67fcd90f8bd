/** What an engine passes on of a call's input: copies of all of it. */
import { expect, test } from "vitest";
import { engineOver, type PlainEngine } from "../../../../src/client/crypto/engines/engine-over.ts";
import { SecretBytes } from "../../../../src/client/crypto/secret-bytes.ts";
import { ALGORITHM_TRIPLES } from "../../../../src/protocol/algorithms.ts";
import { withoutTables } from "../../../../src/protocol/proofs/parameters-ends.ts";
import { MADE_PARAMETERS } from "../../../support/crypto/made-dwallet.ts";

const { signal } = new AbortController();
const curve = "ED25519";
const triple = ALGORITHM_TRIPLES.find(({ signatureAlgorithm }) => signatureAlgorithm === "EdDSA")!;
/** Views of a larger buffer, which must not be transferred. */
const bytes = (of: number) => Uint8Array.of(0, of, of, 0).subarray(1, 3);
const secret = (of: number) => new SecretBytes(bytes(of));

/** Each call's input, and what reaches the plain engine of it. */
const CALLS = {
  buildParameters: [{ curve, networkKeyOutput: bytes(1) }, undefined],
  deriveUserKeys: [
    { curve, seed: bytes(1) },
    { decryptionKey: bytes(8), signerSecretKey: bytes(9) },
  ],
  prepareDkg: [
    {
      ...{ curve, userSecretKeyShare: secret(1), sessionDigest: bytes(2) },
      ...{ parameters: MADE_PARAMETERS, encryptionKey: bytes(3) },
    },
    undefined,
  ],
  prepareImport: [
    {
      ...{ curve, userSecretKeyShare: secret(1), sessionDigest: bytes(2), privateKey: secret(4) },
      ...{ parameters: MADE_PARAMETERS, encryptionKey: bytes(3) },
    },
    undefined,
  ],
  decryptShare: [
    { curve, decryptionKey: secret(1), dwalletOutput: bytes(2), encryptedShareAndProof: bytes(3) },
    bytes(8),
  ],
  isOutputOfShare: [
    {
      ...{ curve, parameters: MADE_PARAMETERS, userSecretKeyShare: secret(1), dwalletOutput: bytes(2) },
      importedPublicKey: bytes(3),
    },
    true,
  ],
  signAsUser: [{ signerSecretKey: secret(1), message: bytes(2) }, bytes(8)],
  createSignMessage: [
    {
      ...{ triple, parameters: MADE_PARAMETERS, dwalletOutput: bytes(1), userSecretKeyShare: secret(2) },
      ...{ presign: bytes(3), message: bytes(4) },
    },
    bytes(8),
  ],
} as const;

test.each(Object.entries(CALLS))(
  "%s computes with its own copies of the input",
  async (name, [input, output]) => {
    const seen: { method: string; input: Record<string, unknown>; signal: unknown }[] = [];
    const plain = {
      async run(...[method, given, of]: Parameters<PlainEngine["run"]>) {
        seen.push({ method, input: given as never, signal: of });
        return output;
      },
    };
    const engine = engineOver(plain as never) as unknown as Record<
      string,
      (input: object) => Promise<unknown>
    >;
    const result = await engine[name]!({ ...input, signal });
    const [call] = seen;
    expect(call).toMatchObject({ method: name, signal });
    expect(Object.keys(call!.input).sort()).toEqual(
      // The network key is in the parameters; a decryption needs none.
      Object.keys(input).sort(),
    );
    for (const [field, value] of Object.entries(input)) {
      const given = call!.input[field];
      const plainValue = value instanceof SecretBytes ? value.reveal() : value;
      expect(given).toEqual(field === "parameters" ? withoutTables(MADE_PARAMETERS) : plainValue);
      if (!(given instanceof Uint8Array)) continue;
      expect(given.buffer.byteLength).toBe(given.length);
      expect(given.buffer).not.toBe((plainValue as Uint8Array).buffer);
    }
    if (name === "createSignMessage") expect(call!.input["triple"]).not.toBe(triple);
    const reveal = (of: unknown) => (of instanceof SecretBytes ? of.reveal() : of);
    if (name === "deriveUserKeys") {
      const keys = result as Record<string, unknown>;
      expect([keys["decryptionKey"], keys["signerSecretKey"]].map(reveal)).toEqual([bytes(8), bytes(9)]);
    } else expect(reveal(result)).toEqual(output);
  },
);
