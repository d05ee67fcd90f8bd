import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { bytesToHex } from "@noble/hashes/utils.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type DemoReport, demonstrate } from "../../src/cli/demo/demo.ts";
import { createStageClock } from "../../src/cli/demo/demo-steps.ts";
import { ALGORITHM_TRIPLES, type AlgorithmTriple, findTriple } from "../../src/protocol/algorithms.ts";
import { hexToBytes } from "../../src/protocol/bytes.ts";
import { isValidSignature } from "../support/crypto/signature-verifiers.ts";
import { atNight } from "../support/environment.ts";
import { runTss } from "../support/service/service.ts";
import { type SharedService, sharedService } from "../support/service/shared-service.ts";

/** The demo's temporary folders are created here, so that the tests see any leftovers. */
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), "tss-demo-test-"));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

function startDemo(...argv: string[]): {
  child: ChildProcess;
  stdout: () => string;
  ended: Promise<number | null>;
} {
  const child = runTss(["demo", ...argv], { TMPDIR: folder });
  child.stderr?.pipe(process.stderr, { end: false });
  let stdout = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  const ended = once(child, "close").then(([code]) => code as number | null);
  return { child, stdout: () => stdout, ended };
}

describe("the demo on one running service", () => {
  // The trial in try.test.ts signs with every algorithm through the service.
  const shown = atNight(
    ALGORITHM_TRIPLES,
    ALGORITHM_TRIPLES.filter(({ curve }) => curve === "SECP256R1"),
  );

  let service: SharedService;
  beforeAll(async () => {
    service = await sharedService();
  });

  test.each(shown)("ends verified for $curve, $signatureAlgorithm, $hash", async (triple) => {
    const { signal } = new AbortController();
    const message = new TextEncoder().encode("a message");
    const clock = createStageClock(() => {});
    const report = await demonstrate(service.access, { triple, message }, clock, signal);
    expectVerified(report, triple);
    expect(report.messageHex).toBe(bytesToHex(message));
  });
});

test("the demo's command ends verified, with its report as the last line, and removes its folder", async () => {
  const triple = findTriple("ED25519", "EdDSA", "SHA512")!;
  const demo = startDemo("--curve", triple.curve, "--algorithm", "EdDSA", "--hash", triple.hash, "--json");
  expect({ code: await demo.ended, stdout: demo.stdout() }).toMatchObject({ code: 0 });
  const lines = demo.stdout().trimEnd().split("\n");
  expectVerified(JSON.parse(lines.at(-1)!) as DemoReport, triple);
  expect(readdirSync(folder).filter((name) => name.startsWith("tss-"))).toEqual([]);
});

test("Ctrl-C stops the service and removes its folder", async () => {
  const demo = startDemo();
  await once(demo.child.stdout!, "data");
  demo.child.kill("SIGINT");
  expect(await demo.ended).not.toBe(0);
  expect(readdirSync(folder).filter((name) => name.startsWith("tss-"))).toEqual([]);
});

test("a combination that does not exist is refused before anything starts", async () => {
  const demo = startDemo("--curve", "ED25519", "--algorithm", "Taproot");
  expect(await demo.ended).toBe(2);
  expect(demo.stdout()).toBe("");
});

/** Expects a report of this combination, with a signature that an outside library accepts. */
function expectVerified(report: DemoReport, { curve, signatureAlgorithm, hash }: AlgorithmTriple): void {
  expect(report).toMatchObject({ curve, algorithm: signatureAlgorithm, hash, verified: true });
  const claim = {
    signatureAlgorithm,
    hash,
    publicKey: hexToBytes(report.publicKeyHex),
    message: hexToBytes(report.messageHex),
    signature: hexToBytes(report.signatureHex),
  };
  expect(isValidSignature(claim)).toBe(true);
  expect(report.longestBlockMs).toEqual(expect.any(Number));
  expect(report.dwalletId).toMatch(/^0x[0-9a-f]{64}$/);
  expect(report.signSessionId).toMatch(/^0x[0-9a-f]{64}$/);
  expect(report.stages.map(({ name }) => name)).toContain("sign: compute");
  for (const digest of Object.values(report.txDigests))
    expect(digest).toMatch(/^[1-9A-HJ-NP-Za-km-z]{43,44}$/);
}
