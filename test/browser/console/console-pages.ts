import { chromium, type Page } from "playwright-core";
import type { DevelopmentAccess } from "../../../src/cli/connections/development-file.ts";
import { type Stop, signIn, visit } from "./tour.ts";

/** The pages of a file's tests. Each is in a profile of its own, because the pages of a profile share six connections. */
export interface ConsolePages {
  /** Uncaught exceptions, warnings and errors of all pages since the test began. */
  readonly faults: string[];
  /** Opens a page for one test. */
  newPage(): Promise<Page>;
  /** Returns the page on which the tests, one after the other, are signed in with the service's own key. */
  signedIn(role: Stop["role"]): Promise<Page>;
  /** Ends a test: takes the pages that stay back to their beginning and closes the others. Returns what they did. */
  endTest(isFailed: boolean): Promise<PastPages>;
  close(): Promise<void>;
}

/** What the pages of one test did. */
export interface PastPages {
  readonly faults: readonly string[];
  readonly seenUrls: readonly string[];
  readonly cookies: readonly unknown[];
}

/** Starts Chromium for the console of a service. */
export async function openConsolePages(
  access: Pick<DevelopmentAccess, "baseUrl" | "adminApiKey" | "apiKey">,
): Promise<ConsolePages> {
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
  const faults: string[] = [];
  const seenUrls: string[] = [];
  const staying = new Map<Stop["role"], Page>();
  async function newPage(): Promise<Page> {
    // A colour that changes while axe measures it would be neither the old nor the new one.
    const profile = await browser.newContext({ reducedMotion: "reduce", viewport: DESK });
    const page = await profile.newPage();
    page.setDefaultTimeout(60_000);
    page.on("pageerror", (error) => void faults.push(String(error)));
    page.on("console", (line) => {
      if (["error", "warning"].includes(line.type())) faults.push(line.text());
    });
    page.on("request", (request) => void seenUrls.push(request.url()));
    return page;
  }

  async function endPage(page: Page, isFailed: boolean): Promise<void> {
    const role = [...staying].find(([, each]) => each === page)?.[0];
    if (role === undefined || isFailed || (await page.getByRole("dialog").count()) > 0) {
      if (role !== undefined) staying.delete(role);
      return await page.close();
    }
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.setViewportSize(DESK);
    await visit(page, { path: QUIET[role] });
  }

  return {
    faults,
    newPage,
    async signedIn(role) {
      const page = staying.get(role) ?? (await newPage());
      if (!staying.has(role)) await signIn(page, access, role);
      staying.set(role, page);
      return page;
    },
    async endTest(isFailed) {
      const cookies: unknown[] = [];
      for (const context of browser.contexts()) {
        cookies.push(...(await context.cookies()));
        for (const page of context.pages()) await endPage(page, isFailed);
        if (context.pages().length === 0) await context.close();
      }
      return { faults: faults.splice(0), seenUrls: seenUrls.splice(0), cookies };
    },
    close: () => browser.close(),
  };
}

const DESK = { width: 1280, height: 720 };
/** Pages to which no test goes from here, because it would find them already loaded. */
const QUIET = { operator: "runbook", project: "usage" } as const;
