/** How the engine with Ika's own code loads its package, and what it passes to it. */
import { afterEach, describe, expect, test, vi } from "vitest";
import { SecretBytes } from "../../../../src/client/crypto/secret-bytes.ts";
import { ALGORITHM_TRIPLES } from "../../../../src/protocol/algorithms.ts";

const wasm = vi.hoisted(() => ({
  initialized: 0,
  called: [] as unknown[][],
  secret: [1, 2, 3],
}));
const call =
  (name: string, result: number[]) =>
  (...args: unknown[]) => {
    wasm.called.push([name, ...args]);
    return result;
  };
vi.mock("@ika.xyz/ika-wasm", () => found());

/** The package in its form for browsers, whose default export loads the wasm. */
function found() {
  return {
    default: async () => void wasm.initialized++,
    encrypt_secret_share: call("encrypt", [4]),
    decrypt_user_share: call("decrypt", wasm.secret),
    create_sign_centralized_party_message: call("sign", [5]),
  };
}

afterEach(() => {
  vi.resetModules();
  Object.assign(wasm, { initialized: 0, called: [] });
});

const bytes = (of: number) => Uint8Array.of(of);
const triple = ALGORITHM_TRIPLES.find(({ signatureAlgorithm }) => signatureAlgorithm === "ECDSASecp256r1")!;
const load = () => import("../../../../src/client/crypto/engines/reference-engine.ts");

describe("Ika's package in a browser", () => {
  test("is initialized once for all engines", async () => {
    const { createReferenceEngine } = await load();
    await createReferenceEngine().ready();
    await createReferenceEngine().ready();
    expect(wasm.initialized).toBe(1);
  });

  test("gets each call's arguments in its own order, and its copy of a share is overwritten", async () => {
    const engine = (await load()).createReferenceEngine();
    const [curve, parameters] = ["SECP256R1", bytes(1)] as const;
    const dwalletOutput = bytes(2);
    const share = await engine.decryptShare({
      ...{ curve, parameters, dwalletOutput },
      ...{ decryptionKey: new SecretBytes(bytes(3)), encryptedShareAndProof: bytes(4) },
    });
    expect(share.reveal()).toEqual(Uint8Array.of(1, 2, 3));
    expect(wasm.secret).toEqual([0, 0, 0]);
    const half = await engine.createSignMessage({
      ...{ triple, parameters, dwalletOutput, userSecretKeyShare: new SecretBytes(bytes(5)) },
      ...{ presign: bytes(6), message: bytes(7) },
    });
    expect(half).toEqual(bytes(5));
    const calls = await (await load()).loadIkaWasm();
    expect(calls.encryptShare(curve, bytes(5), bytes(8), parameters)).toEqual(bytes(4));
    const { curveNumber, signatureAlgorithmNumber, hashNumber } = triple;
    const numbers = [curveNumber, signatureAlgorithmNumber, hashNumber];
    expect(wasm.called).toEqual([
      ["decrypt", curveNumber, bytes(3), dwalletOutput, bytes(4), parameters],
      ["sign", parameters, dwalletOutput, bytes(5), bytes(6), bytes(7), ...numbers],
      ["encrypt", curveNumber, bytes(5), bytes(8), parameters],
    ]);
  });

  test("may be missing, and is looked for again by the next call", async () => {
    vi.doMock("@ika.xyz/ika-wasm", () => {
      throw new Error("Cannot find package");
    });
    const engine = (await load()).createReferenceEngine();
    await expect(engine.ready()).rejects.toMatchObject({
      name: "EngineError",
      message: "the cryptography module could not be loaded",
      cause: { message: "@ika.xyz/ika-wasm is not installed" },
    });
    vi.doMock("@ika.xyz/ika-wasm", found);
    await engine.ready();
    expect(wasm.initialized).toBe(1);
  });
});
