/**
 * When Chromium first paints the console of a service on embedded defaults, with an empty cache, and how long a sign-in
 * takes until the overview tells the state. `npx tsx bench/console-paint.ts [--rounds 5]`; needs Chromium.
 */
import { parseArgs } from "node:util";
import { type Browser, chromium } from "playwright-core";
import { startThrowawayService } from "../src/cli/demo/throwaway-service.ts";
import { signIn } from "../test/browser/console/tour.ts";

const { values } = parseArgs({ options: { rounds: { type: "string", default: "5" } } });

const service = await startThrowawayService({ RATE_LIMIT_OPEN_PER_SECOND: "0" });
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
try {
  const rounds: Paints[] = [];
  for (let round = 0; round < Number(values.rounds); round++) rounds.push(await measure(browser));
  console.log("| figure | median of the rounds, ms |\n|---|---|");
  console.log(`| first paint | ${median(rounds.map(({ firstMs }) => firstMs))} |`);
  console.log(`| first paint with content | ${median(rounds.map(({ contentMs }) => contentMs))} |`);
  console.log(
    `| from opening the console again to the overview's state, with the sign-in | ${median(rounds.map(({ stateMs }) => stateMs))} |`,
  );
} finally {
  await browser.close();
  await service.stop();
}

interface Paints {
  readonly firstMs: number;
  readonly contentMs: number;
  readonly stateMs: number;
}

async function measure(by: Browser): Promise<Paints> {
  // Each context has its own cache.
  const context = await by.newContext();
  const page = await context.newPage();
  await page.goto(`${service.access.baseUrl}/console`);
  await page.getByLabel("Key", { exact: true }).waitFor();
  const paints = await page.evaluate(() =>
    performance.getEntriesByType("paint").map(({ name, startTime }) => ({ name, startTime })),
  );
  const timeOf = (wanted: string) => paints.find(({ name }) => name === wanted)?.startTime ?? Number.NaN;
  const beganMs = performance.now();
  await signIn(page, service.access, "operator");
  await page.locator(".headline").waitFor();
  const stateMs = performance.now() - beganMs;
  await context.close();
  return { firstMs: timeOf("first-paint"), contentMs: timeOf("first-contentful-paint"), stateMs };
}

function median(times: readonly number[]): string {
  return (times.toSorted((one, other) => one - other)[Math.floor(times.length / 2)] ?? 0).toFixed(0);
}
