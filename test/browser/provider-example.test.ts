/**
 * The page of `examples/web` without a backend, started as its README says beside a real identity provider, and the
 * exchange of that provider's tokens.
 */
import { existsSync } from "node:fs";
import { fromBase58 } from "@mysten/sui/utils";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type LocalApp, type LocalProvider, startLocalProvider } from "../../examples/web/local-provider.ts";
import { type AdminClient, createAdminClient, SessionScope } from "../../src/client/sdk/admin/index.ts";
import { createClient } from "../../src/client/sdk/index.ts";
import { isValidSignature } from "../support/crypto/signature-verifiers.ts";
import { migratedFolder } from "../support/database/migrated-folder.ts";
import { programMissing } from "../support/environment.ts";
import { pollUntil } from "../support/poll-until.ts";
import { type ServiceProcess, startService } from "../support/service/service.ts";
import {
  type ExampleProgram,
  factOn,
  keysIn,
  readDatabases,
  readMemory,
  startExampleProgram,
  type Visit,
  visit,
} from "./example-page.ts";
import { idTokenOf, tokenPart } from "./provider-token.ts";

const CHROMIUM = "/usr/bin/chromium";
const { folder, remove } = await migratedFolder();
let service: ServiceProcess;

beforeAll(async () => {
  // Keys on this machine, which the service refuses by default except on a developer's localnet.
  const environment = { PRESIGN_BUCKETS: "ED25519/EdDSA", IDENTITY_PRIVATE_ADDRESSES: "true" };
  service = await startService(folder, environment);
});
afterAll(async () => {
  await service?.stop();
  remove();
});

if (!existsSync(CHROMIUM)) programMissing("Chromium (Debian: chromium)", "the example web without a backend");

describe.skipIf(!existsSync(CHROMIUM))("the example web without a backend", () => {
  let program: ExampleProgram;
  let browser: Browser;
  let page: Page;
  let visited: Visit;

  beforeAll(async () => {
    program = await startExampleProgram("examples/web/README.md", service.access, "/oidc-server.ts");
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
  });
  afterAll(async () => {
    await browser?.close();
    program?.stop();
  });
  beforeEach(async () => {
    page = await browser.newPage();
    visited = visit(page);
    await page.goto(program.url);
  });
  afterEach(async () => {
    await page.close();
    expect(visited.faults).toEqual([]);
    expect(keysIn(await visited.traffic(), service.access)).toEqual([]);
  });

  it("signs in at the provider with a code, PKCE and a nonce, exchanges the ID token, and signs for this user", async () => {
    const asked = page.waitForRequest((request) => new URL(request.url()).pathname === "/auth");
    const answered = page.waitForResponse((reply) => new URL(reply.url()).pathname === "/token");
    await signIn("alice");
    const question = new URL((await asked).url()).searchParams;
    expect(Object.fromEntries(question)).toMatchObject({
      response_type: "code",
      code_challenge_method: "S256",
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    });
    const { id_token: idToken } = (await (await answered).json()) as { readonly id_token: string };
    expect(tokenPart(idToken, "claims")).toMatchObject({ sub: "alice", nonce: question.get("nonce") });

    await sign("signed without a backend");
    const signature = Buffer.from(await factOn(page, "signature"), "hex");
    const publicKey = fromBase58(await factOn(page, "solana address"));
    const message = new TextEncoder().encode("signed without a backend");
    const claim = { signatureAlgorithm: "EdDSA", hash: "SHA512", publicKey, message, signature } as const;
    expect(isValidSignature(claim)).toBe(true);
    const { baseUrl, apiKey, network } = service.access;
    const owners: unknown[] = [];
    for await (const { userReference } of createClient({ baseUrl, apiKey, network }).listDWallets())
      owners.push(userReference);
    expect(owners).toEqual(["alice"]);
    // The page's own server has only its files and the public facts about the provider.
    const own = (await visited.traffic()).filter((text) => text.startsWith(program.url));
    expect(own.length).toBeGreaterThan(3);
    expect(own.filter((text) => text.includes(idToken) || text.includes("tss_session_"))).toEqual([]);
  });

  it("has the project's key neither in its memory, nor in its storage, nor in its traffic, and stores no token", async () => {
    await signIn("bob");
    await sign("hello");
    await factOn(page, "signature");
    const traffic = (await visited.traffic()).join("\n");
    const [token = ""] = /tss_session_[\w-]+/.exec(traffic) ?? [];
    const [, idToken = ""] = /"id_token":"([^"]+)"/.exec(traffic) ?? [];
    expect([token, idToken].every((text) => text.length > 40)).toBe(true);
    const stored = [
      await page.evaluate<string>("JSON.stringify([localStorage, sessionStorage])"),
      await readDatabases(page),
      JSON.stringify(await page.context().cookies(program.url)),
      page.url(),
    ];
    expect(stored.filter((text) => text.includes(token) || text.includes(idToken))).toEqual([]);
    expect(page.url()).toBe(`${program.url}/`);
    const memory = await readMemory(page);
    // The search finds what the page does hold.
    expect(memory.includes(token)).toBe(true);
    expect(keysIn([...stored, await page.content(), memory], service.access)).toEqual([]);

    const { baseUrl, network } = service.access;
    const thief = createClient({ baseUrl, network, session: async () => token, deviceKey: false });
    await expect(thief.account()).rejects.toMatchObject({ reason: "PROOF_INVALID" });
  });

  it("asks who the user is at each login, also in a browser that the provider knows", async () => {
    await signIn("alice");
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("button", { name: "Sign in at the provider" }).waitFor();
    await signIn("bob");
  });

  it("shows that the provider does not answer, and signs in once it does", async () => {
    const discovery = (url: URL) => url.pathname === "/.well-known/openid-configuration";
    await page.route(discovery, (route) => route.abort());
    await page.getByRole("button", { name: "Sign in at the provider" }).click();
    await page.getByRole("alert").filter({ hasText: "The page failed: TypeError" }).waitFor();
    await page.unroute(discovery);
    await signIn("alice");
  });

  it("accepts no code that answers another login than the one it began", async () => {
    const { provider } = (await (await fetch(`${program.url}/login`)).json()) as ProviderLogin;
    const stolen = `${program.url}/?code=stolen&state=unknown&iss=${encodeURIComponent(provider.issuer)}`;
    await page.goto(stolen);
    await page.getByRole("button", { name: "Sign in at the provider" }).waitFor();
    expect(await page.locator("#failure").textContent()).toBe("");
    const begun = JSON.stringify({ codeVerifier: "v".repeat(43), state: "mine", nonce: "n" });
    await page.evaluate((text) => sessionStorage.setItem("threshold-signing-login", text), begun);
    await page.goto(stolen);
    await page.getByRole("alert").filter({ hasText: '"state"' }).waitFor();
    await expectSignedOut();
  });

  it("accepts no ID token with the nonce of another login", async () => {
    await page.route(
      (url) => url.pathname === "/auth",
      (route) => {
        const url = new URL(route.request().url());
        url.searchParams.set("nonce", "of another login");
        return route.continue({ url: url.href });
      },
    );
    await page.getByRole("button", { name: "Sign in at the provider" }).click();
    await page.getByLabel("Name").fill("alice");
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("alert").filter({ hasText: '"nonce"' }).waitFor();
    await expectSignedOut();
  });

  async function expectSignedOut(): Promise<void> {
    expect(await page.getByLabel("Service").isVisible()).toBe(false);
    expect(await page.getByRole("button", { name: "Sign in at the provider" }).isVisible()).toBe(true);
    const sent = await visited.traffic();
    expect(sent.filter((text) => text.startsWith(service.access.baseUrl))).toEqual([]);
  }

  async function signIn(user: string): Promise<void> {
    await page.getByRole("button", { name: "Sign in at the provider" }).click();
    await page.getByLabel("Name").fill(user);
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByLabel("Service").waitFor();
    expect(await page.locator("#user-name").textContent()).toBe(user);
  }

  async function sign(message: string): Promise<void> {
    await page.getByRole("button", { name: "Make a seed" }).click();
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download the seed" }).click();
    await download;
    await page.getByLabel("Message").fill(message);
    await page.getByRole("button", { name: "Make a key and sign" }).click();
  }
});

describe("the exchange of a real provider's tokens", () => {
  const app: LocalApp = { clientId: "app", redirectUrl: "http://127.0.0.1:1/" };
  const otherApp: LocalApp = { clientId: "other-app", redirectUrl: "http://127.0.0.1:1/" };
  let admin: AdminClient;
  let projectId: string;
  let provider: LocalProvider;
  let second: LocalProvider;

  beforeAll(async () => {
    const { baseUrl, adminApiKey: adminKey, network } = service.access;
    admin = createAdminClient({ baseUrl, adminKey, network });
    projectId = await newProject("shop");
    [provider, second] = [
      await startLocalProvider(0, [app, otherApp]),
      await startLocalProvider(0, [app, otherApp]),
    ];
    await trust(projectId, provider);
  });
  afterAll(() => {
    provider?.close();
    second?.close();
  });

  it("gives a session for the token's user", async () => {
    expect(await exchange(await idTokenOf(provider, app, "alice"))).toEqual({ user: "alice" });
  });

  it("refuses a token for another audience", async () => {
    expect(await exchange(await idTokenOf(provider, otherApp, "alice"))).toEqual({ fault: "audience" });
  });

  it("refuses a token of a second provider with the same user and audience, which its own project accepts", async () => {
    const token = await idTokenOf(second, app, "alice");
    expect(tokenPart(token, "claims")).toMatchObject({ sub: "alice", aud: "app" });
    expect(await exchange(token)).toEqual({ fault: "issuer" });
    const other = await newProject("other shop");
    await trust(other, second);
    expect(await exchange(token)).toEqual({ fault: "issuer" });
    expect(await exchange(token, other)).toEqual({ user: "alice" });
  });

  it("downloads the keys again for a token of a new key, and then refuses the withdrawn one", async () => {
    const before = await idTokenOf(provider, app, "carol");
    expect(await exchange(before)).toEqual({ user: "carol" });
    provider.rotateKeys({ isWithdrawn: true });
    const after = await idTokenOf(provider, app, "carol");
    expect(tokenPart(after, "header")["kid"]).not.toBe(tokenPart(before, "header")["kid"]);
    // The service asks a provider again at most every 30 seconds.
    const asked: unknown[] = [];
    await pollUntil(
      async () => {
        const answer = await exchange(after);
        asked.push(answer);
        return "user" in answer;
      },
      { intervalMs: 1_000 },
    );
    expect(asked.at(-1)).toEqual({ user: "carol" });
    expect(await exchange(before)).toEqual({ fault: "key" });
  });

  async function newProject(name: string): Promise<string> {
    const { project } = await admin.createProject({ name });
    return project?.projectId ?? "";
  }

  async function trust(project: string, { issuer, keySetUrl }: LocalProvider): Promise<void> {
    const scopes = [SessionScope.read];
    const settings = { issuer, keySetUrl, audiences: [app.clientId], scopes, allowsUnbound: true };
    await admin.createIdentityProvider({ projectId: project, settings });
  }

  /** Exchanges a token over REST. Returns the session's user, or the check that failed. */
  async function exchange(
    idToken: string,
    project = projectId,
  ): Promise<{ readonly user: unknown } | { readonly fault: unknown }> {
    const reply = await fetch(`${service.access.baseUrl}/v1/token-exchange`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ projectId: project, idToken }),
    });
    const body = (await reply.json()) as ExchangeReply;
    if (reply.ok) return { user: body.userReference };
    const [detail] = body.details ?? [];
    return { fault: detail?.reason === "TOKEN_INVALID" ? detail.metadata?.["fault"] : detail?.reason };
  }
});

interface ProviderLogin {
  readonly provider: { readonly issuer: string };
}

interface ExchangeReply {
  readonly userReference?: string;
  readonly details?: readonly {
    readonly reason?: string;
    readonly metadata?: Readonly<Record<string, string>>;
  }[];
}
