import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import {
  BalanceBurnSchema,
  LedgerVerificationSchema,
  OutboxEntrySchema,
  SweepCount_State,
  SweepCountSchema,
} from "../../../gen/client/tss/v1/operations_pb.ts";
import { SignRequest_FailureSchema } from "../../../gen/client/tss/v1/signing_pb.ts";
import { formatDays } from "../../../src/console/format/text.ts";
import { concernsOf, type ServiceState } from "../../../src/console/operator/overview/concerns.ts";
import {
  daysLeft,
  type ProjectState,
  projectConcerns,
} from "../../../src/console/project/overview/concerns.ts";

const NOW_MS = 1_790_000_000_000;
const DAY_MS = 86_400_000;
const at = (agoMs: number) => timestampFromMs(NOW_MS - agoMs);

describe("what needs an operator", () => {
  const check = { name: "database", ok: true, vital: true, reason: "" };
  const bucket = { signatureAlgorithmName: "EdDSA", ready: 5, pending: 0, lowWater: 3 };
  const state = (changed: Partial<ServiceState>): ServiceState => ({
    readiness: { checks: [check as never] },
    lanes: { lanes: [] },
    outbox: { entries: [], readTime: at(0) },
    buckets: [bucket],
    reserves: { ika: burn(41), sui: burn(undefined), gas: undefined } as never,
    money: {
      ledgerVerification: create(LedgerVerificationSchema, { differenceCount: 0 }),
      waitingDepositCount: 0n,
      oldestWaitingDepositTime: undefined,
      sweeps: [],
      readTime: at(0),
    } as never,
    ...changed,
  });
  const burn = (daysLeft: number | undefined) =>
    create(BalanceBurnSchema, daysLeft === undefined ? {} : { daysLeft });
  const toned = (changed: Partial<ServiceState>) =>
    concernsOf(state(changed)).map(({ tone, text }) => [tone, text]);
  const money = (changed: object) => ({ money: { ...state({}).money, ...changed } });

  it("is nothing while all is well, also with a bucket that nobody uses", () => {
    expect(toned({})).toEqual([]);
    expect(toned({ buckets: [bucket, { ...bucket, ready: 0, lowWater: 0 }] })).toEqual([]);
    expect(toned({ buckets: [{ ...bucket, ready: 1 }] })).toEqual([]);
  });

  it("is a failing check with the service's own words, and urgent if the check is vital", () => {
    const failing = { ...check, ok: false, reason: "nobody answers at 192.0.2.1" };
    const [concern] = concernsOf(state({ readiness: { checks: [failing as never] } }));
    expect(concern).toMatchObject({ tone: "bad", remedy: "nobody answers at 192.0.2.1" });
    expect(toned({ readiness: { checks: [{ ...failing, vital: false } as never] } })).toEqual([
      ["warn", "The check database fails: the replica serves calls."],
    ]);
  });

  it("is a used bucket without presigns, urgent only if none is on the way", () => {
    expect(toned({ buckets: [{ ...bucket, ready: 0 }] })).toEqual([
      ["bad", "No presign of EdDSA is ready, and none is on the way."],
    ]);
    expect(toned({ buckets: [{ ...bucket, ready: 0, pending: 8 }] })).toEqual([
      ["warn", "No presign of EdDSA is ready; 8 are on the way."],
    ]);
  });

  it.each([
    [2.96, "bad", "2.9 days"],
    [3, "warn", "3 days"],
    [13.9, "warn", "13 days"],
  ])("is a reserve that lasts %s days", (days, tone, words) => {
    expect(toned({ reserves: { gas: burn(days) } as never })).toEqual([
      [tone, `The SUI for gas lasts ${words} at the rate of the last week.`],
    ]);
  });

  it("is an operation that waits for a minute, and none that waits for less", () => {
    const outbox = (agoMs: number) => ({
      outbox: { entries: [create(OutboxEntrySchema, { oldestCreateTime: at(agoMs) })], readTime: at(0) },
    });
    expect(toned(outbox(59_000))).toEqual([]);
    expect(toned(outbox(65_000))).toEqual([["bad", "An operation has waited 1 min 5 s for the chain."]]);
  });

  it("is a lane's foreign transaction, a mismatch in the ledger, a late deposit and a failed sweep, the urgent first", () => {
    const failed = create(SweepCountSchema, { state: SweepCount_State.failed, count: 2n });
    const late = { waitingDepositCount: 1n, oldestWaitingDepositTime: at(2 * 3_600_000), sweeps: [failed] };
    const lanes = { lanes: [{ foreignTxDigest: "9S2jBY" } as never] };
    const ledgerVerification = create(LedgerVerificationSchema, { differenceCount: 1 });
    expect(toned({ lanes, ...money({ ...late, ledgerVerification }) })).toEqual([
      ["bad", "A lane has a transaction that this service did not send, so no lane sends."],
      ["bad", "The ledger has 1 mismatch."],
      ["warn", "1 deposit waits, the oldest for 2 h."],
      ["warn", "2 sweeps have failed."],
    ]);
  });
});

describe("what needs a project", () => {
  const state = (changed: Partial<ProjectState>): ProjectState => ({
    balance: { balanceMicroUsd: 10_000_000n, heldMicroUsd: 0n },
    week: { chargedMicroUsd: 0n },
    keys: [],
    failed: [],
    nowMs: NOW_MS,
    ...changed,
  });
  const toned = (changed: Partial<ProjectState>) =>
    projectConcerns(state(changed)).map(({ tone, text }) => [tone, text]);

  it("is a balance that lasts less than a week, without what reservations hold", () => {
    expect(toned({})).toEqual([]);
    expect(toned({ week: { chargedMicroUsd: 10_000_000n } })).toEqual([]);
    const held = { balanceMicroUsd: 10_000_000n, heldMicroUsd: 5_000_000n };
    expect(toned({ balance: held, week: { chargedMicroUsd: 10_000_000n } })).toEqual([
      ["warn", "The balance of $5.00 lasts 3.5 days at the rate of the last week."],
    ]);
    expect(toned({ balance: { ...held, heldMicroUsd: 10_000_000n } })[0]?.[0]).toBe("bad");
    expect(daysLeft(5_000_000n, undefined)).toBeUndefined();
  });

  it("is a key that expires within two weeks and has no successor", () => {
    const key = { name: "backend", expireTime: at(-3 * DAY_MS) };
    const others = [
      { ...key, expireTime: at(-15 * DAY_MS) },
      { ...key, expireTime: at(DAY_MS) },
      { ...key, revokeTime: at(0) },
      { ...key, replacedBy: "another" },
      { name: "for good" },
    ];
    expect(toned({ keys: others })).toEqual([]);
    expect(toned({ keys: [key, { ...key, expireTime: at(-3_600_000) }] })).toEqual([
      ["bad", "The key “backend” expires in 1 h."],
      ["warn", "The key “backend” expires in 3 d."],
    ]);
  });

  it("is a reason for which signatures failed in the last day, except for reservations that expired", () => {
    const failed = (reason: string, agoMs: number) => ({
      createTime: at(agoMs),
      failure: create(SignRequest_FailureSchema, { reason }),
    });
    expect(
      toned({ failed: [failed("RESERVATION_EXPIRED", 1), failed("NETWORK_REJECTED", DAY_MS + 1)] }),
    ).toEqual([]);
    expect(toned({ failed: [failed("NETWORK_REJECTED", 1), failed("NETWORK_REJECTED", 2)] })).toEqual([
      ["warn", "2 signatures failed in the last day: NETWORK_REJECTED."],
    ]);
  });
});

it.each([
  [0.96, "0.9 days"],
  [1, "1 day"],
  [9.99, "9.9 days"],
  [365, "365 days"],
  [366, "more than a year"],
])("%s days are written as %s", (days, words) => expect(formatDays(days)).toBe(words));
