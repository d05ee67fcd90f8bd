import { type DescMessage, fromBinary, type MessageShape, toBinary } from "@bufbuild/protobuf";
import axe from "axe-core";
import type { Page } from "playwright-core";
import type { DevelopmentAccess } from "../../../src/cli/connections/development-file.ts";

/** WCAG and best-practice violations in the current page, each with its elements. */
export async function axeFaults(page: Page, options: object = {}): Promise<string[]> {
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(axe.source);
  // What fits the rules would be most of the result.
  const text = JSON.stringify({ ...options, resultTypes: ["violations"] });
  return await page.evaluate<string[]>(
    `axe.run(${text}).then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ": " + html)))`,
  );
}

/** The number of entries that the page has stored in the browser. */
export function keptByBrowser(page: Page): Promise<unknown> {
  return page.evaluate(async () => ({
    local: localStorage.length,
    session: sessionStorage.length,
    databases: (await indexedDB.databases()).length,
    caches: (await caches.keys()).length,
    cookie: document.cookie,
  }));
}

/** Returns the HTTP status of a call with a key. */
export async function balanceStatus(
  { baseUrl }: Pick<DevelopmentAccess, "baseUrl">,
  key: string,
): Promise<number> {
  const { status } = await fetch(`${baseUrl}/v1/billing/balance`, {
    headers: { authorization: `Bearer ${key}` },
  });
  return status;
}

/** Changes the replies of a call before the page gets them. */
export async function changeReply<Schema extends DescMessage>(
  page: Page,
  url: string,
  schema: Schema,
  change: (reply: MessageShape<Schema>) => void,
): Promise<void> {
  await page.route(url, async (route) => {
    const response = await route.fetch();
    const reply = fromBinary(schema, await response.body());
    change(reply);
    await route.fulfill({ response, body: Buffer.from(toBinary(schema, reply)) });
  });
}
