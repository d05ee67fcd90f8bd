/** When the signer rehearses the exits of its keys, and what it tells of each. */
import { expect, it } from "vitest";
import { type RequestOptions, TssError } from "../../../src/client/sdk/index.ts";
import { createMetrics } from "../../../src/service/platform/telemetry/metrics.ts";
import { createExitDrill } from "../../../src/signer/exit-drill.ts";
import type { StoredKey } from "../../../src/signer/store/key-store.ts";
import { createManualClock } from "../../support/manual-clock.ts";

const DAY_MS = 86_400_000;
const PACE_MS = 5_000;

const keyOf = (name: string, isActive = true): StoredKey => ({
  ...{ name, curve: "ED25519", seed: new Uint8Array(32), createTimeMs: 0 },
  progress: isActive
    ? { kind: "active", dwallet: { dwalletId: `0x${name}`, publicKeyHex: "", sessionDigestHex: "" } }
    : { kind: "creating" },
});

/**
 * A drill whose client refuses with the reason of each dWallet, and an abort after it; none: the owner could
 * leave. `reporting` is what the service
 * does with a report.
 */
function drillOf(
  keys: readonly StoredKey[],
  reasons: Record<string, string> = {},
  reporting: (options: RequestOptions | undefined) => Promise<void> = async () => {},
  isReported?: boolean,
) {
  const clock = createManualClock();
  const metrics = createMetrics();
  const lines: Record<string, unknown>[] = [];
  const write = (fields: object) => void lines.push(fields as Record<string, unknown>);
  const asked: string[] = [];
  const reports: object[] = [];
  const client = {
    async reportExitDrill(args: object, options?: RequestOptions) {
      reports.push(args);
      await reporting(options);
    },
    async rehearseLeave({ dwalletId }: { readonly dwalletId: string }) {
      asked.push(dwalletId);
      const [reason, abort] = reasons[dwalletId]?.split(" ") ?? [];
      const more = abort === undefined ? {} : { metadata: { abort } };
      if (reason !== undefined) throw new TssError(reason as "CHAIN_UNAVAILABLE", "no", more);
      return { dwalletId, treasuryId: "0xt", owner: "0xo", epoch: "7", checkedAt: new Date(0) };
    },
  };
  const log = { debug: write, info: write, warn: write, error: write };
  const loop = createExitDrill({
    ...{ list: () => keys, client, log, metrics, clock, isReported, everyMs: DAY_MS, paceMs: PACE_MS },
  });
  /** Lets the loop make some passes, each a pause after the one before. */
  const passes = async (count: number) => {
    for (let pass = 0; pass < count; pass++) {
      for (let turn = 0; turn < 20; turn++) await Promise.resolve();
      clock.advance(PACE_MS);
    }
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  };
  const figure = async (name: string) =>
    Number(new RegExp(`^service_${name} (\\S+)$`, "m").exec((await metrics.render(undefined)).body)?.[1]);
  return { loop, clock, asked, reports, lines, passes, figure };
}

it("rehearses each active key once a day, one after the other", async () => {
  const { loop, clock, asked, lines, passes, figure } = drillOf([keyOf("a"), keyOf("b"), keyOf("c", false)]);
  loop.start();
  await passes(0);
  expect(asked).toEqual(["0xa"]);
  await passes(4);
  expect(asked).toEqual(["0xa", "0xb"]);
  expect(lines[0]).toEqual({
    ...{ audit: "exit-drill", keyName: "a", dwalletId: "0xa", outcome: "could_leave" },
    ...{ checkedAt: "1970-01-01T00:00:00.000Z", epoch: "7", treasuryId: "0xt" },
  });
  expect(await figure("signer_exit_drill_oldest_seconds")).toBe(20);
  clock.advance(DAY_MS - 6 * PACE_MS);
  await passes(6);
  expect(asked).toEqual(["0xa", "0xb", "0xa", "0xb"]);
  await loop.stop();
});

it.each([
  ["AUTHORIZATION_REFUSED", "refused", 0],
  ["AUTHORIZATION_REFUSED custody:9", "refused", 0],
  ["AUTHORIZATION_REFUSED custody:8", "unknown", 1],
  ["TREASURY_MISMATCH", "refused", 0],
  ["CHAIN_UNAVAILABLE", "unknown", 1],
])(
  "tells of %s as %s, and tries again in ten minutes only if nobody knows",
  async (reason, outcome, again) => {
    const { loop, clock, asked, reports, lines, passes, figure } = drillOf([keyOf("a")], { "0xa": reason });
    const startedAt = new Date(clock.now());
    loop.start();
    await passes(1);
    expect(lines).toMatchObject([{ outcome, reason: reason.split(" ")[0], keyName: "a" }]);
    // The service hears only of an outcome.
    const report = { dwalletId: "0xa", outcome, checkedAt: startedAt };
    expect(reports).toEqual(outcome === "unknown" ? [] : [report]);
    clock.advance(600_000);
    await passes(2);
    expect(asked).toHaveLength(1 + again);
    // It was never shown that the owner could leave.
    expect(await figure("signer_exit_drill_oldest_seconds")).toBeGreaterThan(600);
    await loop.stop();
  },
);

it("lets no key wait forever, however often the first ones are due", async () => {
  const reasons = { "0xa": "CHAIN_UNAVAILABLE", "0xb": "CHAIN_UNAVAILABLE" };
  const { loop, clock, asked, passes } = drillOf([keyOf("a"), keyOf("b"), keyOf("c")], reasons);
  loop.start();
  for (let pass = 0; pass < 3; pass++) {
    await passes(0);
    clock.advance(600_000);
  }
  await passes(0);
  expect(asked.slice(0, 3)).toEqual(["0xa", "0xb", "0xc"]);
  await loop.stop();
});

it("reports the time and the outcome of a drill and nothing else, and a report that fails changes nothing", async () => {
  const { loop, clock, asked, reports, lines, passes, figure } = drillOf(
    [keyOf("a"), keyOf("b")],
    {},
    async () => {
      throw new TssError("SCOPE_MISSING", "text of the service");
    },
  );
  const startMs = clock.now();
  loop.start();
  await passes(3);
  expect(asked).toEqual(["0xa", "0xb"]);
  expect(reports).toEqual([
    { dwalletId: "0xa", outcome: "could_leave", checkedAt: new Date(startMs) },
    { dwalletId: "0xb", outcome: "could_leave", checkedAt: new Date(startMs + PACE_MS) },
  ]);
  expect(lines).toMatchObject([
    { keyName: "a", outcome: "could_leave" },
    { keyName: "a", dwalletId: "0xa", reason: "SCOPE_MISSING" },
    { keyName: "b", outcome: "could_leave" },
    { keyName: "b", dwalletId: "0xb", reason: "SCOPE_MISSING" },
  ]);
  expect(JSON.stringify(lines)).not.toContain("text of the service");
  // Both were shown after the start.
  expect(await figure("signer_exit_drill_oldest_seconds")).toBe(15);
  await loop.stop();
});

it("tells the service nothing if it is told so", async () => {
  const { loop, asked, reports, passes } = drillOf([keyOf("a")], {}, undefined, false);
  loop.start();
  await passes(1);
  expect([asked, reports]).toEqual([["0xa"], []]);
  await loop.stop();
});

it("stops while a report waits for the service, which has two seconds, and says nothing", async () => {
  let timeoutMs: number | undefined;
  const { loop, reports, lines, passes, figure } = drillOf([keyOf("a")], {}, (options) => {
    timeoutMs = options?.timeoutMs;
    return new Promise((_, reject) => options?.signal?.addEventListener("abort", reject));
  });
  loop.start();
  await passes(2);
  expect([reports.length, timeoutMs]).toEqual([1, 2_000]);
  // The drill counts already.
  expect(await figure("signer_exit_drill_oldest_seconds")).toBe(10);
  await loop.stop();
  expect(lines).toHaveLength(1);
});

it("does not rehearse the exit of a dWallet that has left, nor count it", async () => {
  const { loop, clock, asked, reports, passes, figure } = drillOf([keyOf("a")], { "0xa": "DWALLET_LEFT" });
  loop.start();
  await passes(1);
  clock.advance(3 * DAY_MS);
  await passes(2);
  expect([asked, reports]).toEqual([["0xa"], []]);
  expect(await figure("signer_exit_drill_oldest_seconds")).toBe(0);
  await loop.stop();
});
