/** What the engine with Ika's own code does itself. `test/crypto` compares its results with those of the other engines. */
import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { type CryptoEngine, EngineError } from "../../../../src/client/crypto/engine.ts";
import { createInlineEngine } from "../../../../src/client/crypto/engines/inline-engine.ts";
import { createReferenceEngine } from "../../../../src/client/crypto/engines/reference-engine.ts";
import { SecretBytes } from "../../../../src/client/crypto/secret-bytes.ts";
import { hexToBytes } from "../../../../src/protocol/bytes.ts";
import { MADE_PARAMETERS, makeDWallet } from "../../../support/crypto/made-dwallet.ts";
import { vectorOf } from "../../../support/crypto/signature-vectors.ts";
import { verifyEdDsa } from "../../../support/crypto/signature-verifiers.ts";

const curve = "ED25519";
const seed = new Uint8Array(32).fill(9);
const { triple, dwalletOutput, presign, message, userSecretKeyShareHex } = vectorOf("EdDSA");
const secret = () => new SecretBytes(hexToBytes(userSecretKeyShareHex));
const malformed = new Uint8Array(100);

/** Calls that the engine passes to Ika's code, with parameters that it refuses. */
const REFUSED: Record<string, (engine: CryptoEngine) => Promise<unknown>> = {
  "share decryption": (engine) =>
    engine.decryptShare({
      ...{ curve, parameters: malformed, decryptionKey: secret(), dwalletOutput },
      encryptedShareAndProof: malformed,
    }),
  "sign message": (engine) =>
    engine.createSignMessage({
      ...{ triple, parameters: malformed, dwalletOutput, userSecretKeyShare: secret() },
      ...{ presign: presign!, message },
    }),
  "share encryption": (engine) =>
    engine.prepareDkg({
      ...{ curve, parameters: MADE_PARAMETERS, encryptionKey: malformed },
      ...{ sessionDigest: new Uint8Array(32), userSecretKeyShare: secret() },
    }),
};

describe("the reference engine", () => {
  test("derives and signs with the keys of every engine", async () => {
    const engine = createReferenceEngine();
    await engine.ready();
    const keys = await engine.deriveUserKeys({ seed, curve });
    const own = await createInlineEngine().deriveUserKeys({ seed, curve });
    expect([keys.encryptionKey, keys.signerAddress]).toEqual([own.encryptionKey, own.signerAddress]);
    const signature = await engine.signAsUser({ signerSecretKey: keys.signerSecretKey, message });
    expect(verifyEdDsa({ ...triple, publicKey: keys.signerPublicKey, message, signature })).toBe(true);
  });

  test("knows which share a dWallet has", async () => {
    const engine = createReferenceEngine();
    const made = makeDWallet(hexToBytes(userSecretKeyShareHex));
    const claim = { curve, parameters: MADE_PARAMETERS, dwalletOutput: made.output } as const;
    expect(await engine.isOutputOfShare({ ...claim, userSecretKeyShare: secret() })).toBe(true);
    const { output } = makeDWallet(hexToBytes(userSecretKeyShareHex), 4n);
    const other = { ...claim, dwalletOutput: output, userSecretKeyShare: secret() };
    expect(await engine.isOutputOfShare(other)).toBe(false);
  });

  test.each(Object.entries(REFUSED))("names a refused %s, and shows no secret", async (what, call) => {
    const error = await call(createReferenceEngine()).catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(EngineError);
    expect((error as EngineError).message).toBe(`${what}: the protocol rejected the input`);
    expect(inspect(error, { depth: 9 })).not.toContain(userSecretKeyShareHex.slice(8, 24));
  });

  test("refuses every call once it is closed", async () => {
    const engine = createReferenceEngine();
    await engine.close();
    const calls = [
      ...Object.values(REFUSED),
      (closed: CryptoEngine) => closed.ready(),
      (closed: CryptoEngine) => closed.buildParameters({ curve, networkKeyOutput: malformed }),
      (closed: CryptoEngine) => closed.deriveUserKeys({ seed, curve }),
      (closed: CryptoEngine) => closed.signAsUser({ signerSecretKey: secret(), message }),
      (closed: CryptoEngine) =>
        closed.isOutputOfShare({
          ...{ curve, parameters: MADE_PARAMETERS, dwalletOutput, userSecretKeyShare: secret() },
        }),
    ];
    for (const call of calls) {
      const error = await call(engine).catch((cause: unknown) => cause);
      expect(error).toBeInstanceOf(EngineError);
      expect((error as EngineError).message).toBe("the engine is closed");
    }
  });
});
