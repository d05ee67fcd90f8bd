import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { buffersOf, type FromWorker } from "../../../../src/client/crypto/engines/engine-messages.ts";
import { type EnginePort, serveEngine } from "../../../../src/client/crypto/engines/serve-engine.ts";
import type { PlainUserKeys } from "../../../../src/client/crypto/plain-data.ts";
import { recorded, requestOf } from "./recorded-halves.ts";

const vectorOf = (algorithm: string) =>
  recorded.vectors.find(({ signatureAlgorithm }) => signatureAlgorithm === algorithm)!;

/** A worker on this thread whose messages a test can inspect. */
function serveHere() {
  const said: { message: FromWorker; transfer: ArrayBuffer[] }[] = [];
  let wake: () => void = () => {};
  const port: EnginePort = {
    onmessage: null,
    postMessage(message, transfer = []) {
      said.push({ message, transfer });
      wake();
    },
  };
  /** Resolves when the worker has said a message of this kind. */
  const until = async (kind: FromWorker["kind"]) => {
    while (!said.some(({ message }) => message.kind === kind))
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
  };
  serveEngine(port);
  const tell = (data: Parameters<NonNullable<EnginePort["onmessage"]>>[0]["data"]) =>
    port.onmessage?.({ data } as MessageEvent);
  return { said, tell, until };
}

test("a worker overwrites the share after it made the half, and transfers the half's buffer", async () => {
  const { said, tell, until } = serveHere();
  const vector = vectorOf("EdDSA");
  const request = requestOf(vector);
  const share = Uint8Array.from(request.userSecretKeyShare);
  const input = { ...request, userSecretKeyShare: share };
  tell({ kind: "call", id: 5, method: "createSignMessage", input });
  await until("result");
  expect(said[0]!.message).toEqual({ kind: "ready" });
  const { message, transfer } = said[1]!;
  if (message.kind !== "result" || !(message.output instanceof Uint8Array)) throw new Error(message.kind);
  expect(message.id).toBe(5);
  expect(createHash("sha256").update(message.output).digest("hex")).toBe(vector.halfSha256Hex);
  expect(transfer).toEqual([message.output.buffer]);
  expect(share).toEqual(new Uint8Array(share.length));
});

test("a worker transfers the secrets that it derives, and overwrites the seed", async () => {
  const { said, tell, until } = serveHere();
  const seed = new Uint8Array(32).fill(3);
  tell({ kind: "call", id: 1, method: "deriveUserKeys", input: { curve: "ED25519", seed } });
  await until("result");
  const { message, transfer } = said[1]!;
  if (message.kind !== "result") throw new Error(message.kind);
  const { decryptionKey, signerSecretKey } = message.output as PlainUserKeys;
  for (const secret of [decryptionKey, signerSecretKey]) {
    expect(transfer).toContain(secret.buffer);
    expect(secret.byteLength).toBe(secret.buffer.byteLength);
  }
  expect(seed).toEqual(new Uint8Array(32));
});

test.each(["cancel", "close"] as const)("a worker with the call %s overwrites the share", async (kind) => {
  const { said, tell, until } = serveHere();
  const request = requestOf(vectorOf("ECDSASecp256k1"));
  const share = Uint8Array.from(request.userSecretKeyShare);
  tell({
    kind: "call",
    id: 1,
    method: "createSignMessage",
    input: { ...request, userSecretKeyShare: share },
  });
  tell(kind === "cancel" ? { kind, id: 1 } : { kind });
  const last = kind === "cancel" ? "failed" : "closed";
  await until(last);
  expect(said.map(({ message }) => message.kind)).not.toContain("result");
  expect(share).toEqual(new Uint8Array(share.length));
});

test("every byte string of a message is transferred", () => {
  const [first, second] = [new Uint8Array(3), new Uint8Array(4)];
  expect(buffersOf({ first, name: "x", second })).toEqual([first.buffer, second.buffer]);
  expect(buffersOf(first)).toEqual([first.buffer]);
});
