import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import {
  apiKeyPrefix,
  generateAdminKey,
  generateApiKey,
  generateSessionToken,
  hashApiKey,
  isApiKeyForm,
  isSessionForm,
} from "../../../../../src/service/access/keys/api-key.ts";

it.each([
  ["localnet", "tss_local_"],
  ["testnet", "tss_test_"],
  ["mainnet", "tss_live_"],
])("a key of %s begins with %s and is too long to guess", (network, label) => {
  const key = generateApiKey(network);
  expect(key).toMatch(new RegExp(`^${label}[0-9A-Za-z]{32}$`));
  expect(isApiKeyForm(key)).toBe(true);
  expect(apiKeyPrefix(key)).toBe(key.slice(0, label.length + 4));
  expect(generateApiKey(network)).not.toBe(key);
});

it("a session's token is as long as a key, and neither is taken for the other", () => {
  const token = generateSessionToken();
  expect(token).toMatch(/^tss_session_[0-9A-Za-z]{32}$/);
  expect([isSessionForm(token), isApiKeyForm(token)]).toEqual([true, false]);
  expect([isSessionForm(generateApiKey("mainnet")), isSessionForm(generateAdminKey())]).toEqual([
    false,
    false,
  ]);
});

it("keys use all characters equally", () => {
  const counts = new Map<string, number>();
  for (let i = 0; i < 8000; i++) {
    for (const c of generateApiKey("localnet").slice(10)) counts.set(c, (counts.get(c) ?? 0) + 1);
  }
  // 256,000 draws from 62 characters: 4129 each, with a standard deviation of 64. A byte taken modulo 62 draws eight of
  // them 5000 times.
  expect(counts.size).toBe(62);
  for (const count of counts.values()) expect(Math.abs(count - 4129)).toBeLessThan(7 * 64);
});

it("only the SHA-256 of a key is stored", () => {
  const key = generateApiKey("localnet");
  expect(Buffer.from(hashApiKey(key)).toString("hex")).toBe(createHash("sha256").update(key).digest("hex"));
});

it.each(["", "tss_local_", "tss_local_nope", "tss_other_0123456789abcdefghijABCDEFGHIJ01", "' OR 1=1"])(
  "%s does not look like a key",
  (text) => {
    expect(isApiKeyForm(text)).toBe(false);
  },
);

it("there are no keys for a network that does not exist", () => {
  expect(() => generateApiKey("marsnet")).toThrow("marsnet");
});
