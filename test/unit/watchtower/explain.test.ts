/** What a watchtower tells: every sighting that no request of the user's log explains. */
import { describe, expect, it } from "vitest";
import {
  EXPECTED_MAX_COUNT,
  EXPECTED_MS,
  explain,
  PENDING_MAX_COUNT,
} from "../../../src/watchtower/explain.ts";
import { type Sighting, uuidOf } from "../../../src/watchtower/sightings.ts";
import type { LoggedRequest } from "../../../src/watchtower/user-log.ts";

const [HASH, OTHER] = ["a".repeat(64), "b".repeat(64)];
const NOTHING = { expected: [], pending: [] };
const GRACE_MS = 60_000;

const signed = (id: string, change: Partial<Sighting> = {}): Sighting => ({
  ...{ id, kind: "sign", dwalletId: "0x1", messageSha256: HASH, facts: {} },
  ...change,
});
const line = (key: string, change: Partial<LoggedRequest> = {}): LoggedRequest => ({
  ...{ what: HASH, key, dwalletId: undefined },
  ...change,
});
const round = (
  state: Parameters<typeof explain>[0],
  sightings: readonly Sighting[],
  requests: readonly LoggedRequest[],
  nowMs = 0,
) => explain(state, { sightings, requests, nowMs, graceMs: GRACE_MS });
const toldOf = ({ told }: ReturnType<typeof explain>) => told.map(({ id }) => id);

describe("a signature", () => {
  it("is explained by a line that came before it, or within the time that a line may be late", () => {
    const before = round(round(NOTHING, [], [line("1")]), [signed("a")], []);
    expect([toldOf(before), before.pending]).toEqual([[], []]);
    const waiting = round(NOTHING, [signed("a")], []);
    expect([toldOf(waiting), waiting.pending.length]).toEqual([[], 1]);
    const late = round(waiting, [], [line("1")], GRACE_MS - 1);
    expect([toldOf(late), late.pending]).toEqual([[], []]);
    expect(toldOf(round(waiting, [], [], GRACE_MS))).toEqual(["a"]);
  });

  it("needs its own request: a message that is signed again, or a repeated line, explains nothing", () => {
    const once = round(NOTHING, [signed("a"), signed("b")], [line("1"), line("1")]);
    expect(toldOf(round(once, [], [line("1")], GRACE_MS))).toEqual(["b"]);
    const twice = round(NOTHING, [signed("a"), signed("b")], [line("1"), line("2")]);
    expect([toldOf(twice), twice.pending]).toEqual([[], []]);
  });

  it.each<[string, Partial<Sighting>, Partial<LoggedRequest>]>([
    ["another message", { messageSha256: OTHER }, {}],
    ["a dWallet that the line does not name", { dwalletId: "0x2" }, { dwalletId: "0x1" }],
    ["a line about an exit", {}, { what: "leave" }],
  ])("is not explained by %s", (_, sighting, request) => {
    const { pending } = round(NOTHING, [signed("a", sighting)], [line("1", request)]);
    expect(pending).toHaveLength(1);
  });

  it("is not explained by a line of another day, nor by more lines than are remembered", () => {
    const old = round(NOTHING, [], [line("1")]);
    expect(round(old, [signed("a")], [], EXPECTED_MS - 1).pending).toEqual([]);
    expect(round(old, [signed("a")], [], EXPECTED_MS).pending).toHaveLength(1);
    const many = Array.from({ length: EXPECTED_MAX_COUNT }, (_each, index) =>
      line(`${index}`, { what: OTHER }),
    );
    const full = round(old, [], many);
    expect(full.expected).toHaveLength(EXPECTED_MAX_COUNT);
    expect(round(full, [signed("a")], []).pending).toHaveLength(1);
  });

  it("is told at once if too many others wait", () => {
    const many = Array.from({ length: PENDING_MAX_COUNT + 1 }, (_each, index) => signed(`${index}`));
    const { told, pending } = round(NOTHING, many, []);
    expect([told.length, pending.length]).toEqual([1, PENDING_MAX_COUNT]);
  });
});

it("tells of presigns and announced releases at once, and of exits that the log lacks", () => {
  const of = (kind: Sighting["kind"], by = "owner") =>
    signed(kind, { kind, messageSha256: "", facts: { by } });
  const seen = [of("presign"), of("release_announced"), of("left")];
  const { told, pending } = round(NOTHING, seen, [line("1")]);
  expect(told.map(({ kind, subject }) => [kind, subject])).toEqual([
    ["watchtower.presign", "0x1"],
    ["watchtower.release_announced", "0x1"],
  ]);
  expect(pending).toHaveLength(1);
  const leave = line("", { what: "leave", dwalletId: "0x1" });
  expect(round(NOTHING, [of("left")], [leave])).toMatchObject({ told: [], pending: [] });
  // The user has not asked the administrator.
  for (const by of ["administrator", "successor"])
    expect(toldOf(round(NOTHING, [of("left", by)], [leave]))).toEqual(["left"]);
});

it("names an alert by a UUID that follows from the event alone", () => {
  expect(uuidOf("a")).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
  const [first, same, other] = ["a", "a", "b"].map(uuidOf);
  expect(same).toBe(first);
  expect(other).not.toBe(first);
});
