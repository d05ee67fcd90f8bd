/** `npm run console:screenshots`: every page of the console in both themes and at the width of a phone, as PNG files. */
import { mkdirSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { chromium } from "playwright-core";
import { startThrowawayService } from "../../../src/cli/demo/throwaway-service.ts";
import { fillService } from "./stage.ts";
import { takeScreenshots } from "./take-screenshots.ts";

const { values } = parseArgs({ options: { out: { type: "string", default: ".data/console-screenshots" } } });
const folder = path.resolve(values.out);
mkdirSync(folder, { recursive: true });
const service = await startThrowawayService({ PRESIGN_BUCKETS: "ED25519/EdDSA,SECP256K1/ECDSASecp256k1" });
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
try {
  const stage = await fillService(service.access);
  const count = await takeScreenshots({ browser, access: service.access, stage, folder });
  console.log(`${count} screenshots are in ${folder}`);
} finally {
  await browser.close();
  await service.stop();
}
