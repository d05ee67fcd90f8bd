/** The client's package in a page of Chromium, built by three bundlers without configuration. */
import { cpSync, existsSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { deriveUserKeys } from "../../src/client/crypto/user-keys.ts";
import { findTriple } from "../../src/protocol/algorithms.ts";
import { hexToBytes } from "../../src/protocol/bytes.ts";
import { isValidSignature } from "../support/crypto/signature-verifiers.ts";
import { migratedFolder } from "../support/database/migrated-folder.ts";
import { environment, programMissing } from "../support/environment.ts";
import { installClient } from "../support/repository/install-client.ts";
import { type ServiceProcess, startService } from "../support/service/service.ts";
import { blockingTime } from "./blocking-time.ts";
import { BUNDLERS, layOutPage } from "./bundle-page.ts";
import { serveFolder } from "./serve-folder.ts";

const CHROMIUM = "/usr/bin/chromium";
/** Far above the 0 ms of a quiet machine, and half of the ECDSA half's time on the fastest machine. */
const MOST_BLOCKED_MS = 500;

/** The result of a function of the page. */
interface Outcome<Result> {
  readonly result?: Result;
  readonly failure?: string;
}
interface Signed {
  readonly publicKeyHex: string;
  readonly signature: readonly number[];
  readonly fallback: string;
}

if (!existsSync(CHROMIUM)) programMissing("Chromium (Debian: chromium)", "the client in a browser");
else {
  const pages = mkdtempSync(path.join(tmpdir(), "tss-pages-"));
  const { folder, remove } = await migratedFolder();
  let browser: Browser;
  let service: ServiceProcess;

  beforeAll(async () => {
    installClient(pages);
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
    service = await startService(folder, {
      PRESIGN_BUCKETS: "ED25519/EdDSA,SECP256K1/ECDSASecp256k1",
    });
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
    rmSync(pages, { recursive: true, force: true });
    remove();
  });

  describe.each(Object.keys(BUNDLERS))("a page that %s built", (bundler) => {
    const place = path.join(pages, bundler);
    let server: Awaited<ReturnType<typeof serveFolder>>;
    let page: Page;

    beforeAll(async () => {
      layOutPage(place);
      symlinkSync(path.join(pages, "node_modules"), path.join(place, "node_modules"));
      await BUNDLERS[bundler]?.(place);
      server = await serveFolder(path.join(place, "out"));
      page = await browser.newPage();
      await page.goto(server.url);
      await page.waitForFunction("window.onboardAndSign !== undefined");
    });
    afterAll(async () => {
      await page?.close();
      server?.close();
    });

    const algorithms = [
      ["ED25519", "EdDSA", "SHA512"],
      ["SECP256K1", "ECDSASecp256k1", "KECCAK256"],
    ] as const;
    // Both workers compute a half of ECDSA. What they compute does not depend on the bundler: it builds the page, and the
    // page's workers start.
    const isThorough = bundler === "vite" || environment.isReference;
    test.each(isThorough ? algorithms : [])(
      "onboards on %s and signs with %s, and blocks its thread for less than half a second in all",
      async (...names) => {
        const [curve, signatureAlgorithm, hash] = names;
        expect(findTriple(curve, signatureAlgorithm, hash)).toBeDefined();
        const { baseUrl, apiKey } = service.access;
        const message = `signed in a page of ${bundler}`;
        const options = {
          access: { baseUrl, apiKey },
          seed: Array(32).fill(11),
          message,
          curve,
          signatureAlgorithm,
          hashScheme: hash,
        };
        const { result: outcome, ...tasks } = await blockingTime(
          browser,
          page,
          (): Promise<Outcome<Signed>> => page.evaluate(`onboardAndSign("text", ${JSON.stringify(options)})`),
        );
        expect(outcome.failure).toBeUndefined();
        const { publicKeyHex, signature, fallback } = outcome.result!;
        const claim = {
          signatureAlgorithm,
          hash,
          publicKey: hexToBytes(publicKeyHex),
          message: new TextEncoder().encode(message),
          signature: Uint8Array.from(signature),
        };
        expect(isValidSignature(claim)).toBe(true);
        expect(fallback).toBe("");
        expect(tasks.taskCount).toBeGreaterThan(100);
        expect(tasks.blockedMs).toBeLessThan(MOST_BLOCKED_MS);
      },
    );

    const measured = isThorough ? ["is measured as blocking while it computes on its own thread"] : [];
    test.each(measured)("%s", async () => {
      // Each step depends on the one before and takes at least four cycles, so even a processor of 5 GHz takes longer for
      // the last count. Most are slower.
      let blockedMs = 0;
      for (let power = 27; power <= 30 && blockedMs <= MOST_BLOCKED_MS; power++) {
        const busy = `let x = 1; for (let i = 0; i < 2 ** ${power}; i++) x = (Math.imul(x, 31) + i) | 0; return x;`;
        ({ blockedMs } = await blockingTime(browser, page, () => page.evaluate(`(() => { ${busy} })()`)));
      }
      expect(blockedMs).toBeGreaterThan(MOST_BLOCKED_MS);
    });

    test("starts workers from a file of its site, and reports a file that is missing", async () => {
      const program = path.join(place, "out/worker-program.js");
      const derive = (): Promise<Outcome<{ signerAddress: string; fallback: string }>> =>
        page.evaluate('deriveAddress("file")');
      const { signerAddress } = deriveUserKeys(new Uint8Array(32), "ED25519");
      cpSync(path.join(pages, "node_modules/threshold-signing-client/dist/worker-program.js"), program);
      expect(await derive()).toEqual({ result: { signerAddress, fallback: "" } });
      rmSync(program);
      expect(await derive()).toEqual({ result: { signerAddress, fallback: expect.stringMatching(/./) } });
    });
  });
}
