/** A page with a session, and no key, onboards and signs with a running service. The backend holds the key. */
import { createConnectTransport } from "@connectrpc/connect-web";
import { beforeAll, describe, expect, test } from "vitest";
import { createClient, type TssClient } from "../../src/client/sdk/index.ts";
import { hexToBytes } from "../../src/protocol/bytes.ts";
import { isValidSignature } from "../support/crypto/signature-verifiers.ts";
import { pollUntil } from "../support/poll-until.ts";
import { type SharedService, sharedService } from "../support/service/shared-service.ts";

const PAGE = "https://app.example";
const ALGORITHM = { curve: "ED25519", signatureAlgorithm: "EdDSA", hashScheme: "SHA512" } as const;

describe("a page of an app", () => {
  let service: SharedService;
  let backend: TssClient;

  beforeAll(async () => {
    service = await sharedService();
    const { baseUrl, apiKey, network } = service.access;
    backend = createClient({ baseUrl, apiKey, network });
  });

  /** The client of a page, with the headers that the browser adds and the tokens of the backend. */
  function pageOf(origin: string, headers: Headers[] = [], lifetimeSeconds?: number) {
    const { baseUrl, network } = service.access;
    const fromPage: typeof fetch = async (input, init) => {
      const sent = new Headers(init?.headers);
      sent.set("origin", origin);
      headers.push(sent);
      const reply = await fetch(input, { ...init, headers: sent });
      // A browser shows a page of another origin no other reply.
      if (reply.headers.get("access-control-allow-origin") !== origin) throw new TypeError("blocked by CORS");
      return reply;
    };
    const transport = createConnectTransport({ baseUrl, useBinaryFormat: true, fetch: fromPage });
    const session = () =>
      backend.sessions.create({
        ...{ userReference: "user-42", scopes: ["onboard", "sign", "read"], lifetimeSeconds },
        origins: [PAGE],
      });
    return createClient({ baseUrl, network, session, transport });
  }

  test("onboards and signs with a session of its origin, and sends no key", async () => {
    const headers: Headers[] = [];
    const page = pageOf(PAGE, headers);
    const seed = crypto.getRandomValues(new Uint8Array(32));
    const { dwallet, publicKeyHex } = await page.onboard({ seed, curve: "ED25519" });
    const message = new TextEncoder().encode("from a page");
    const { signature } = await page.sign({ seed, dwalletId: dwallet.id, message, ...ALGORITHM });
    const publicKey = hexToBytes(publicKeyHex);
    expect(
      isValidSignature({ signatureAlgorithm: "EdDSA", hash: "SHA512", publicKey, message, signature }),
    ).toBe(true);
    expect(await page.account()).toMatchObject({
      ...{ apiKeyId: "", scopes: ["onboard", "sign", "read"] },
      session: { userReference: "user-42", origins: [PAGE] },
    });
    for (const sent of headers) {
      expect(sent.get("authorization")).toMatch(/^Bearer tss_session_/);
      expect(JSON.stringify([...sent])).not.toContain(service.access.apiKey);
    }
  });

  test("continues with a new session after its session has ended at the service", async () => {
    const headers: Headers[] = [];
    const page = pageOf(PAGE, headers, 1);
    const { session } = await page.account();
    await pollUntil(async () => {
      await page.account();
      return new Set(headers.map((sent) => sent.get("authorization"))).size > 1;
    });
    expect((await page.account()).session?.sessionId).not.toBe(session?.sessionId);
  });

  test("of another origin gets nothing with the same session", async () => {
    await expect(pageOf("https://evil.example").account()).rejects.toThrow();
    expect(await backend.sessions.revokeUser({ userReference: "user-42" })).toBeGreaterThan(0);
  });
});
