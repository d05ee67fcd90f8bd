import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ChainOperation_Kind } from "../../../gen/proto/tss/v1/admin_pb.ts";
import {
  type GetMoneyResponse,
  GetMoneyResponseSchema,
  GetReadinessResponse_Status,
  LedgerVerificationSchema,
  Operations,
  OutboxEntry_State,
} from "../../../gen/proto/tss/v1/operations_pb.ts";
import { createErrorMapping } from "../../../src/service/platform/errors/error-mapping.ts";
import { registerService } from "../../../src/transport/calls/service-registration.ts";
import { startServer, type TransportServer } from "../../../src/transport/start-server.ts";
import { printed, runCli } from "./run-cli.ts";

const time = timestampFromDate(new Date("2026-11-21T17:06:44.250Z"));
const LANE = `0x${"d".repeat(64)}`;
let server: TransportServer;
let environment: Record<string, string>;

let verification: GetMoneyResponse["ledgerVerification"];

const operations: Partial<ServiceImpl<typeof Operations>> = {
  getReadiness: () => ({
    status: GetReadinessResponse_Status.degraded,
    checks: [
      { name: "database", ok: true },
      { name: "redis", ok: false, reason: "Redis does not answer" },
    ],
    version: "1.2.3",
    processType: "all",
    startTime: time,
  }),
  getLanes: () => ({
    lanes: [
      {
        operatorCapId: LANE,
        configured: true,
        gasCoinCount: 2,
        unresolved: { txDigest: "8YrU", createTime: time, sendCount: 1 },
      },
    ],
  }),
  getMoney: () => create(GetMoneyResponseSchema, verification && { ledgerVerification: verification }),
  getOutbox: () => ({
    entries: [
      {
        kind: ChainOperation_Kind.sign,
        state: OutboxEntry_State.queued,
        count: 3,
        oldestCreateTime: time,
      },
    ],
  }),
};

beforeAll(async () => {
  const errors = createErrorMapping(() => {});
  const services = [registerService(Operations, operations)];
  server = await startServer({ host: "127.0.0.1", port: 0, errors, services, interceptors: [] });
  environment = { TSS_URL: server.url, TSS_ADMIN_KEY: "key" };
  await printed(["status"], environment);
});
afterAll(() => server.close());

it("status shows the readiness and the reason of each failing check", async () => {
  const { out } = await runCli(["status"], environment);
  expect(out).toMatch(/^status +degraded$/m);
  expect(out).toMatch(/^started +2026-11-21T17:06:44Z$/m);
  expect(out).toMatch(/^database +yes +-$/m);
  expect(out).toMatch(/^redis +NO +Redis does not answer$/m);
});

it("lanes shows the open transaction of each lane, and since when", async () => {
  const { out } = await runCli(["lanes"], environment);
  expect(out).toMatch(new RegExp(`^${LANE} +yes +- +2 +8YrU +2026-11-21T17:06:44Z +- +-$`, "m"));
});

it("outbox shows the waiting operations, and the age of the oldest", async () => {
  const { out } = await runCli(["outbox"], environment);
  expect(out).toMatch(/^sign +queued +3 +2026-11-21T17:06:44Z$/m);
});

it("ledger verify shows the service's last verification, and fails with its differences", async () => {
  const verify = (...more: string[]) => runCli(["ledger", "verify", ...more], environment);
  expect(await verify()).toMatchObject({
    exitCode: 3,
    err: expect.stringContaining("the service has not verified its ledger yet; try again in a minute"),
  });
  verification = create(LedgerVerificationSchema, { verifyTime: time });
  expect(await verify()).toEqual({
    exitCode: 0,
    out: expect.stringMatching(/^the ledger is consistent: /),
    err: "the service verified its ledger at 2026-11-21T17:06:44Z",
  });
  const difference = { kind: "held", subject: LANE, expected: 1_000_000n, actual: 2_000_000n };
  verification = create(LedgerVerificationSchema, {
    verifyTime: time,
    differenceCount: 3,
    differences: [difference, difference],
  });
  const bad = await verify();
  expect(bad).toMatchObject({
    exitCode: 1,
    err: expect.stringMatching(/^only 2 of 3 differences are shown$/m),
  });
  expect(bad.out).toMatch(/^held +0xd+ +\$1\.00 +\$2\.00$/m);
  const { exitCode, out } = await verify("--json");
  expect([exitCode, (JSON.parse(out) as unknown[])[0]]).toEqual([
    1,
    { kind: "held", subject: LANE, expected: "1000000", actual: "2000000" },
  ]);
});
