import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createLogger } from "../../../../../src/service/platform/telemetry/logger.ts";
import { createRedact } from "../../../../../src/service/platform/telemetry/redact.ts";
import { Secret } from "../../../../../src/service/platform/telemetry/secret.ts";

const KEY = `tss_live_${"aB3".repeat(11)}`;
const PASSWORD = 'p"ss\\word/with=all';

describe("a text that looks like a secret", () => {
  const redact = createRedact();

  it.each([
    [`the key ${KEY} is wrong`, "the key tss_live_[redacted] is wrong"],
    [`{"token":"tss_session_${KEY.slice(9)}"}`, '{"token":"tss_session_[redacted]"}'],
    ["idToken eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln-_ refused", "idToken [redacted] refused"],
    [`authorization: Bearer ${"x".repeat(20)}`, "authorization: Bearer [redacted]"],
    ["postgresql://user:hunter22@db:5432/tss refused", "postgresql://user:[redacted]@db:5432/tss refused"],
    ["rediss://:hunter22@cache", "rediss://:[redacted]@cache"],
    ["https://token@fullnode.example/x", "https://[redacted]@fullnode.example/x"],
    ["postgresql://user:hunt@er22@db/tss refused", "postgresql://user:[redacted]@db/tss refused"],
    ["https://node.example/?api-key=0123456789&x=1", "https://node.example/?api-key=[redacted]&x=1"],
    ["Bearer%200123456789abcdef", "Bearer [redacted]"],
    [`suiprivkey1${"q".repeat(59)}`, "suiprivkey1[redacted]"],
    [
      'of "-----BEGIN PRIVATE KEY-----\\nMC4CAQAw\\n-----END PRIVATE KEY-----\\n"',
      'of "-----BEGIN PRIVATE KEY-----[redacted]-----END PRIVATE KEY-----\\n"',
    ],
  ])("is redacted: %s", (text, redacted) => {
    expect(redact(text)).toBe(redacted);
  });

  it.each([
    "0x".padEnd(66, "a"),
    "tss_live_aB3d",
    "the caller sent no Bearer token",
    "postgresql://postgres@127.0.0.1:5432/postgres",
    "http://127.0.0.1:9000/path?x=a@b",
    "2026-11-21T17:00:00.000Z",
  ])("does not match other text: %s", (text) => {
    expect(redact(text)).toBe(text);
  });
});

describe("a logger that knows the process's secrets", () => {
  const hex = randomBytes(32).toString("hex");
  const secrets = [
    new Secret(hex),
    new Secret(PASSWORD),
    new Secret("postgresql://tss:wonder%20land@db/tss"),
    new Secret("postgresql://tss:wond@er%2Fland@db/tss"),
    new Secret("https://node.example/v2/0123456789abcdef?key=fedc%20ba98"),
    new Secret("grpcs://node.example/v3/fedcba9876543210fedc?token=98dc%20ba98"),
    new Secret("short"),
  ];
  const values = [
    hex,
    hex.toUpperCase(),
    PASSWORD,
    "wonder land",
    "wonder%20land",
    KEY,
    "0123456789abcdef",
    "fedc ba98",
    "fedcba9876543210fedc",
    "98dc ba98",
  ];

  function logged(write: (logger: ReturnType<typeof createLogger>) => void): string {
    const lines: string[] = [];
    write(createLogger({ level: "trace", secrets, stream: { write: (line) => lines.push(line) } }));
    expect(lines).toHaveLength(1);
    expect(() => JSON.parse(lines[0] ?? "")).not.toThrow();
    return lines[0] ?? "";
  }

  it.each<[string, (value: string) => (logger: ReturnType<typeof createLogger>) => void]>([
    ["the message", (value) => (logger) => logger.error(`it was ${value}`)],
    ["a field", (value) => (logger) => logger.info({ anything: value }, "x")],
    ["a field's name", (value) => (logger) => logger.info({ [value]: 1 }, "x")],
    ["a deep field", (value) => (logger) => logger.info({ a: { b: { c: { d: [value] } } } }, "x")],
    ["an error", (value) => (logger) => logger.error({ cause: new Error(value) }, "x")],
    [
      "an error's cause",
      (value) => (logger) => logger.error({ cause: new Error("x", { cause: new Error(value) }) }, "x"),
    ],
    [
      "an error's own fields",
      (value) => (logger) => logger.error({ error: Object.assign(new Error("x"), { detail: value }) }, "x"),
    ],
    ["a child's bindings", (value) => (logger) => logger.child({ of: value }).warn("x")],
  ])("shows none of them in %s", (_name, write) => {
    for (const value of values) {
      const line = logged(write(value));
      expect(line).toContain("[redacted]");
      expect(line).not.toContain(value);
      expect(line).not.toContain(JSON.stringify(value).slice(1, -1));
    }
  });

  it.each<[string, string]>([
    ["in a URL", encodeURIComponent(PASSWORD)],
    ["in base64", Buffer.from(PASSWORD).toString("base64")],
    ["in base64 of the bytes that it is the hex of", Buffer.from(hex, "hex").toString("base64")],
    ["in base64 for URLs", Buffer.from(hex, "hex").toString("base64url")],
    ["as it was written in its URL, with what had to be encoded", "wond@er%2Fland"],
  ])("shows none of them %s", (_name, form) => {
    const line = logged((logger) => logger.info({ form }, "x"));
    expect(line).not.toContain(form.replace(/=+$/, ""));
  });

  it("does not redact a secret that is as short as a word", () => {
    expect(logged((logger) => logger.info("a short story"))).toContain("a short story");
  });
});
