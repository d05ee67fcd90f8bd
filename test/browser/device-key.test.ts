/** The key of a device in Chromium's IndexedDB. The service's own check judges its proofs. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { build } from "esbuild";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type * as deviceKeys from "../../src/client/sdk/sessions/device-key.ts";
import { createProofNonces } from "../../src/service/access/dpop/proof-nonces.ts";
import { createProofCheck } from "../../src/service/access/dpop/verify-proof.ts";
import { programMissing } from "../support/environment.ts";
import { ROOT } from "../support/repository/source-files.ts";
import { serveFolder } from "./serve-folder.ts";

const CHROMIUM = "/usr/bin/chromium";
const URL_OF_CALL = "https://tss.example/v1/dwallets";

if (!existsSync(CHROMIUM)) programMissing("Chromium (Debian: chromium)", "device keys in a browser");
else {
  const folder = mkdtempSync(path.join(tmpdir(), "tss-device-key-"));
  let browser: Browser;
  let context: BrowserContext;
  let server: Awaited<ReturnType<typeof serveFolder>>;

  beforeAll(async () => {
    await build({
      entryPoints: [path.join(ROOT, "src/client/sdk/sessions/device-key.ts")],
      bundle: true,
      format: "iife",
      globalName: "deviceKeys",
      footer: { js: "globalThis.deviceKeysOf = () => deviceKeys;" },
      outfile: path.join(folder, "page.js"),
      logLevel: "error",
    });
    writeFileSync(
      path.join(folder, "index.html"),
      '<!doctype html><meta charset="utf-8"><title>page</title><script src="./page.js"></script>',
    );
    server = await serveFolder(folder);
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
  }, 60_000);
  beforeEach(async () => {
    context = await browser.newContext();
    return () => context.close();
  });
  afterAll(async () => {
    await browser.close();
    server.close();
    rmSync(folder, { recursive: true });
  });

  const openPage = async () => {
    const page = await context.newPage();
    await page.goto(server.url);
    return page;
  };
  const thumbprintIn = (page: Page) =>
    page.evaluate(async () => (await deviceKeysOf().openDeviceKey()).thumbprint);

  describe("the key of a device in a browser", { timeout: 60_000 }, () => {
    it("is one for all pages of a site that open it at once, and after a reload", async () => {
      const pages = await Promise.all([openPage(), openPage(), openPage()]);
      const thumbprints = await Promise.all(pages.map(thumbprintIn));
      await pages[0]!.reload();
      thumbprints.push(await thumbprintIn(pages[0]!));
      expect(new Set(thumbprints).size).toBe(1);
    });

    it("is another one in another profile", async () => {
      const first = await thumbprintIn(await openPage());
      context = await browser.newContext();
      expect(await thumbprintIn(await openPage())).not.toBe(first);
    });

    it("makes proofs that the service accepts, and its private part cannot be read", async () => {
      const page = await openPage();
      const nonces = createProofNonces(new Uint8Array(32));
      const check = createProofCheck({ nonces, seenProofs: { isFirst: async () => true } });
      const nowMs = Date.now();
      const call = { method: "GET", url: URL_OF_CALL, token: "t", nonce: nonces.current(nowMs) };
      const thumbprint = await thumbprintIn(page);
      const proof = await page.evaluate(
        async (wanted) => (await deviceKeysOf().openDeviceKey()).signProof(wanted),
        call,
      );
      expect(await check({ ...call, proof, thumbprint, nowMs })).toMatchObject({ thumbprint });
      const failure = await page.evaluate(async () => {
        const database = await new Promise<IDBDatabase>((resolve) => {
          const request = indexedDB.open("threshold-signing-service");
          request.onsuccess = () => resolve(request.result);
        });
        const pair = await new Promise<CryptoKeyPair>((resolve) => {
          const request = database.transaction("keys").objectStore("keys").get("default");
          request.onsuccess = () => resolve(request.result as CryptoKeyPair);
        });
        return crypto.subtle.exportKey("jwk", pair.privateKey).then(
          () => "it was read",
          (error: Error) => error.name,
        );
      });
      expect(failure).toBe("InvalidAccessError");
    });
  });
}

/** Runs in the page. */
declare function deviceKeysOf(): typeof deviceKeys;
