import path from "node:path";
import type { Browser } from "playwright-core";
import type { DevelopmentAccess } from "../../../src/cli/connections/development-file.ts";
import type { Stage } from "./stage.ts";
import { signIn, tourOf, visit } from "./tour.ts";

/** Writes a PNG file of each page in each look, and returns the number of files. */
export async function takeScreenshots({
  browser,
  access,
  stage,
  folder,
}: ScreenshotOptions): Promise<number> {
  let count = 0;
  for (const [look, { colorScheme, viewport }] of Object.entries(LOOKS)) {
    for (const role of ["operator", "project"] as const) {
      const page = await browser.newPage({ colorScheme, viewport });
      const shoot = async (name: string, isFull: boolean) => {
        await page.screenshot({ path: path.join(folder, `${role}-${name}-${look}.png`), fullPage: isFull });
        count++;
      };
      await page.goto(`${access.baseUrl}/console`);
      await page.getByLabel("Key", { exact: true }).waitFor();
      if (role === "operator") await shoot("sign-in", false);
      await signIn(page, access, role);
      for (const stop of tourOf(stage).filter((each) => each.role === role)) {
        await visit(page, stop);
        await shoot(stop.name, true);
      }
      await page.close();
    }
  }
  return count;
}

interface ScreenshotOptions {
  readonly browser: Browser;
  readonly access: DevelopmentAccess;
  readonly stage: Stage;
  readonly folder: string;
}

/** The widths of a desktop and of a phone. */
const LOOKS = {
  light: { colorScheme: "light", viewport: { width: 1280, height: 800 } },
  dark: { colorScheme: "dark", viewport: { width: 1280, height: 800 } },
  phone: { colorScheme: "light", viewport: { width: 375, height: 812 } },
} as const;
