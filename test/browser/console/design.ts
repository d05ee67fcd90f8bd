/**
 * `npm run console:design`: builds the page of the console's design system and saves it in both themes, each dialog
 * included, in `.data/console-design`; `-- --serve` serves it until Ctrl-C instead.
 */
import path from "node:path";
import { parseArgs } from "node:util";
import { type Browser, chromium } from "playwright-core";
import * as vite from "vite";
import { designConfig } from "../../../tools/console/vite-config.ts";
import { serveFolder } from "../serve-folder.ts";

const { values } = parseArgs({ options: { serve: { type: "boolean", default: false } } });
const folder = path.resolve(".data/console-design");
await vite.build(designConfig(folder));
const { url, close } = await serveFolder(folder);
if (values.serve) console.log(`the design is at ${url}`);
else await takeScreenshots();

async function takeScreenshots(): Promise<void> {
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
  try {
    for (const theme of ["light", "dark"] as const) await shootTheme(browser, theme);
    console.log(`the screenshots are in ${folder}`);
  } finally {
    await browser.close();
    close();
  }
}

async function shootTheme(browser: Browser, colorScheme: "light" | "dark"): Promise<void> {
  const page = await browser.newPage({ colorScheme, viewport: { width: 1280, height: 800 } });
  const shoot = (name: string, fullPage: boolean) =>
    page.screenshot({ path: path.join(folder, `${name}-${colorScheme}.png`), fullPage });
  await page.goto(url);
  await page.locator("main h1").waitFor();
  await page.evaluate("document.fonts.ready");
  await shoot("design", true);
  for (const dialog of ["confirmation", "form", "secret"]) {
    await page.getByRole("button", { name: `Open a ${dialog}` }).click();
    await page.getByRole("dialog").waitFor();
    await shoot(dialog, false);
    await page
      .getByRole("dialog")
      .getByRole("button", { name: /^(?:Cancel|I have)/ })
      .click();
  }
  await page.close();
}
