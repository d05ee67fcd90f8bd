import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { generateApi } from "swagger-typescript-api";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type FakeServer,
  PARAMETERS,
  PARAMETERS_SHA256,
  startFakes,
  UUID,
} from "../../transport/fake-services.ts";

const TSC = path.resolve("node_modules/.bin/tsc");
/** Generator and compiler are processes that load megabytes of code. */
const TIMEOUT_MS = 60_000;
const FLAGS =
  "--noEmit --pretty false --strict --target es2023 --module esnext --moduleResolution bundler".split(" ");

let folder: string;
let server: FakeServer;
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "client-"));
  const input = path.resolve("gen/openapi.json");
  await generateApi({ input, output: folder, fileName: "client.ts", silent: true });
  server = await startFakes();
}, TIMEOUT_MS);
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

/** Type-checks lines of code that use a client `api`. @returns the lines with errors, with the reason */
function refusedLines(lines: readonly string[]): { line: string; code: string }[] {
  const head =
    'import { Api, Curve, ErrorReason, Hash, SignatureAlgorithm } from "./client";\nconst api = new Api();';
  const tail = "export const kept = [Curve, ErrorReason, Hash, SignatureAlgorithm];";
  writeFileSync(path.join(folder, "usage.ts"), [head, ...lines, tail].join("\n"));
  const { stdout } = spawnSync(TSC, [...FLAGS, "usage.ts"], { cwd: folder, encoding: "utf8" });
  return [...stdout.matchAll(/^(\S+)\((\d+),\d+\): error (TS\d+)/gm)].map(([, file, number, code = ""]) => ({
    line: file === "usage.ts" ? (lines[Number(number) - 3] ?? "") : `${file}:${number}`,
    code,
  }));
}

const RESERVE =
  'dwalletId: "0x", signatureAlgorithm: SignatureAlgorithm.Taproot, hashScheme: Hash.SHA256, message: "AA=="';
const ACCEPT = 'encryptedUserSecretKeyShareId: "0x", userOutputSignature: "AA=="';

describe("a client that another tool generates from the document", { timeout: TIMEOUT_MS }, () => {
  it("type-checks when it is used correctly", () => {
    expect(
      refusedLines([
        `const { data: reserved } = await api.v1.reserveSign({ ${RESERVE} }, { headers: { "idempotency-key": "1" } });`,
        "const price: bigint = BigInt(reserved.priceMicroUsd);",
        "const expires: string | undefined = reserved.expireTime;",
        'const { data: row } = await api.v1.submitSign(reserved.signRequestId, { userSignMessage: "AA==" });',
        'const done: boolean = row.status === "completed" && row.signature !== undefined;',
        `const { data: key } = await api.v1.acceptDWallet("0x", { ${ACCEPT} });`,
        "const curve: Curve = key.curve;",
        "const blob: Blob = (await api.v1.getProtocolParameters('ab', { offset: '1' })).data;",
        "const health = await api.v1.getPresignHealth({ curve: 0, signatureAlgorithm: 1 });",
        "const ready: number[] = health.data.buckets.map((bucket) => bucket.ready);",
        "const [detail] = health.error.details;",
        "if (detail && 'reason' in detail) { const reason: ErrorReason = detail.reason; console.log(reason); }",
        "console.log(price, expires, done, curve, blob, ready);",
      ]),
    ).toEqual([]);
  });

  it("does not type-check when it is used wrongly", () => {
    const wrong = [
      "await api.v1.reserveSign({ dwalletId: '0x', message: '' });",
      `await api.v1.reserveSign({ ${RESERVE}, price: 1 });`,
      `await api.v1.reserveSign({ ${RESERVE.replace("SignatureAlgorithm.Taproot", "Curve.ED25519")} });`,
      `await api.v1.reserveSign({ ${RESERVE.replace('"AA=="', "1")} });`,
      "await api.v1.submitSign({ userSignMessage: '' });",
      "await api.v1.getSign(1);",
      "await api.v1.getPresignHealth({ curve: 'SECP256K1' });",
      "const price: number = (await api.v1.getBalance()).data.balanceMicroUsd;",
      "const signature: string = (await api.v1.getSign('')).data.signature;",
      "const octets: string = (await api.v1.getProtocolParameters('')).data;",
      "const reason: ErrorReason = 'OUT_OF_COFFEE';",
    ];
    expect([...new Set(refusedLines(wrong).map(({ line }) => line))]).toEqual(wrong);
  });

  it("exchanges calls and replies with the server", async () => {
    const { Api } = (await import(path.join(folder, "client.ts"))) as {
      Api: new (options: {
        baseUrl: string;
      }) => { v1: Record<string, (...args: unknown[]) => Promise<Reply>> };
    };
    const { v1 } = new Api({ baseUrl: server.url });
    expect(await v1["getSign"]?.(UUID)).toMatchObject({ status: 200, data: { signRequestId: UUID } });
    const octets = await v1["getProtocolParameters"]?.(PARAMETERS_SHA256, {}, { format: "arrayBuffer" });
    expect(Buffer.from(octets?.data as ArrayBuffer).equals(PARAMETERS)).toBe(true);
    await expect(v1["reserveSign"]?.({ dwalletId: "0x" })).rejects.toMatchObject({
      status: 400,
      error: { details: [{ reason: "VALIDATION", domain: "tss" }, expect.anything()] },
    });
  });
});

interface Reply {
  readonly status: number;
  readonly data: unknown;
}
