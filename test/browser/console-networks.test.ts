/** The console in Chromium, over a service of two networks on a real PostgreSQL. */
import { existsSync } from "node:fs";
import type { Page, Request } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  ADMIN_KEY,
  fundedProject,
  type PosingNetwork,
  posingNetwork,
  startTwoNetworks,
  type TwoNetworkService,
} from "../support/chain/two-networks.ts";
import { testDatabase } from "../support/database/postgres.ts";
import { programMissing } from "../support/environment.ts";
import { type ConsolePages, openConsolePages } from "./console/console-pages.ts";
import { axeFaults } from "./console/looks.ts";
import { signIn, visit } from "./console/tour.ts";

const CHROMIUM = "/usr/bin/chromium";
const PHONE = { width: 390, height: 844 };
/** The operator's pages whose calls are each about one network. */
const PAGES_OF_ONE = ["signatures", "presigns", "lanes", "treasury", "transactions", "money"];

if (!existsSync(CHROMIUM)) programMissing("Chromium (Debian: chromium)", "the console");

const database = await testDatabase();
afterAll(() => database?.drop());

describe.skipIf(!existsSync(CHROMIUM) || database === undefined)(
  "the console of a service of two networks",
  () => {
    let networks: PosingNetwork[];
    let service: TwoNetworkService;
    let projects: Record<"testnet" | "mainnet", { projectId: string; apiKey: string }>;
    let pages: ConsolePages;
    let page: Page;
    let access: Parameters<typeof signIn>[1];
    let sent: { readonly call: string; readonly network: string | undefined }[];

    beforeAll(async () => {
      networks = await Promise.all([posingNetwork("testnet"), posingNetwork("mainnet")]);
      service = await startTwoNetworks(database!.url, networks, {
        PRESIGN_POOL_LOW_WATER: "0",
        RATE_LIMIT_OPEN_PER_SECOND: "0",
      });
      projects = {
        testnet: await fundedProject(service.url, "testnet", "1000000"),
        mainnet: await fundedProject(service.url, "mainnet", "1000000"),
      };
      access = { baseUrl: service.url, adminApiKey: ADMIN_KEY, apiKey: projects.mainnet.apiKey };
      pages = await openConsolePages(access);
    });
    afterAll(async () => {
      await pages?.close();
      await service?.stop();
      await Promise.all((networks ?? []).map(({ localnet }) => localnet.close()));
    });
    beforeEach(async () => {
      sent = [];
      page = await pages.newPage();
      page.on("request", (request) => void sent.push(...calls(request)));
    });
    afterEach(async ({ task }) => {
      const { faults } = await pages.endTest(task.result?.state === "fail");
      expect(faults).toEqual([]);
    });

    const choice = () => page.getByLabel("Network", { exact: true });
    const networkInAddress = () => new URL(page.url()).searchParams.get("network");

    it("sends calls about one network to the chosen network, and calls about all networks without a name", async () => {
      await signIn(page, access, "operator");
      await visit(page, { path: "" });
      expect(await choice().inputValue()).toBe("testnet");
      await choice().selectOption("mainnet");
      await settled();
      sent.length = 0;
      for (const path of PAGES_OF_ONE) await visit(page, { path });
      const named = new Map(sent.map(({ call, network }) => [call, network]));
      expect([...new Set(named.values())]).toEqual(["mainnet"]);
      expect([...named.keys()]).toEqual(
        expect.arrayContaining([
          ...[
            "GetSignStatistics",
            "GetLanes",
            "GetOutbox",
            "GetPresignHistory",
            "GetTreasuryHistory",
            "GetMoney",
          ],
          ...["ListChainTransactions", "GetTreasury", "GetPresignHealth"],
        ]),
      );
      sent.length = 0;
      for (const path of ["admin-keys", "seals", ""]) await visit(page, { path });
      const overAll = sent.filter(({ call }) => /GetReadiness|ListAdminKeys|ListAuditSeals/.test(call));
      expect(new Set(overAll.map(({ call }) => call)).size).toBe(3);
      expect([...new Set(overAll.map(({ network }) => network))]).toEqual([undefined]);
      await page.getByText("Checks of all networks: ").waitFor();
    });

    it("keeps the network in the address through links, a reload and the back button", async () => {
      await signIn(page, access, "operator");
      await page.waitForURL(/\?network=testnet/);
      await choice().selectOption("mainnet");
      await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Treasury" }).click();
      const treasuryOf = (at: number) =>
        page.locator(`code[title="${networks[at]!.localnet.treasury.treasuryId}"]`);
      await treasuryOf(1).waitFor();
      expect([networkInAddress(), await page.title()]).toEqual([
        "mainnet",
        "Treasury and gas · mainnet · Threshold Signing",
      ]);
      const link = page.url();
      await choice().selectOption("testnet");
      await treasuryOf(0).waitFor();
      await page.goBack();
      await treasuryOf(1).waitFor();
      expect(await choice().inputValue()).toBe("mainnet");
      await page.goto("about:blank");
      await page.goto(link);
      await enterKey();
      await treasuryOf(1).waitFor();
      // The page replaces a network that the service does not serve, visibly in the address.
      await page.goto(`${service.url}/console?network=elsewhere#/treasury`);
      await enterKey();
      await treasuryOf(0).waitFor();
      expect(networkInAddress()).toBe("testnet");
    });

    it("lets the arrow keys choose a network, and keeps the focus", async () => {
      await signIn(page, access, "operator");
      await visit(page, { path: "money" });
      await choice().focus();
      await page.keyboard.press("ArrowDown");
      await page.getByText("The credit of all projects on mainnet").waitFor();
      await page.keyboard.press("ArrowUp");
      await page.getByText("The credit of all projects on testnet").waitFor();
      expect(await choice().evaluate((select) => select === document.activeElement)).toBe(true);
    });

    it("lists the projects of the chosen network or of all, and a link to one goes to its network", async () => {
      await signIn(page, access, "operator");
      await visit(page, { path: "projects" });
      const [onTestnet, onMainnet] = ["testnet", "mainnet"].map((network) =>
        page.getByRole("row").filter({ has: page.getByRole("link", { name: `on ${network}` }) }),
      );
      await onTestnet!.waitFor();
      expect(await onMainnet!.count()).toBe(0);
      await page.getByLabel("Networks", { exact: true }).selectOption("all");
      await onMainnet!.getByRole("cell", { name: "mainnet", exact: true }).waitFor();
      await onTestnet!.waitFor();
      await onMainnet!.getByRole("link").click();
      await page.getByRole("heading", { level: 1, name: "on mainnet on mainnet" }).waitFor();
      await page.getByRole("row").filter({ hasText: "test" }).waitFor();
      expect(await choice().inputValue()).toBe("mainnet");
    });

    it("closes a dialog of one network when another one is chosen", async () => {
      await signIn(page, access, "operator");
      await visit(page, { path: "projects" });
      await choice().selectOption("mainnet");
      await page.getByRole("button", { name: "Create a project" }).click();
      await page.getByRole("dialog", { name: "Create a project on mainnet" }).waitFor();
      await page.goBack();
      await page.getByRole("dialog").waitFor({ state: "detached" });
      expect(await choice().inputValue()).toBe("testnet");
    });

    it("shows a project the network of its key, and offers no other", async () => {
      await signIn(page, access, "project");
      await page.locator(".network", { hasText: "mainnet" }).waitFor();
      expect(await choice().count()).toBe(0);
      expect(networkInAddress()).toBeNull();
    });

    it.each([
      ["light", PHONE],
      ["dark", { width: 1280, height: 800 }],
    ] as const)(
      "has no fault that axe finds, and fits, in the %s theme at %o",
      async (colorScheme, viewport) => {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize(viewport);
        await signIn(page, access, "operator");
        for (const path of ["", "projects", "audit"]) {
          await visit(page, { path });
          if (path !== "") await page.getByLabel("Networks", { exact: true }).selectOption("all");
          await settled();
          expect(await page.evaluate("document.documentElement.scrollWidth"), path).toBe(viewport.width);
          const [network, account] = await Promise.all(
            [choice(), page.locator(".top-end")].map((each) => each.boundingBox()),
          );
          expect(network!.x + network!.width, path).toBeLessThan(account!.x);
          expect(await axeFaults(page), path).toEqual([]);
        }
      },
    );

    async function settled(): Promise<void> {
      await page.waitForFunction(() => document.querySelector(".skeleton") === null);
    }

    async function enterKey(): Promise<void> {
      await page.getByLabel("Key", { exact: true }).fill(ADMIN_KEY);
      await page.keyboard.press("Enter");
    }
  },
);

/** The contract's calls in one request of the page: one or none. */
function calls(request: Request) {
  const call = /\/tss\.v1\.\w+\/(\w+)/.exec(new URL(request.url()).pathname)?.[1];
  return call === undefined ? [] : [{ call, network: request.headers()["x-network"] }];
}
