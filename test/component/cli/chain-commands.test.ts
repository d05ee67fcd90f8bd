import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  Admin,
  ChainOperation_Kind as Kind,
  PriceCeiling_Operation as Operation,
  ChainTransaction_State as State,
} from "../../../gen/proto/tss/v1/admin_pb.ts";
import { createErrorMapping } from "../../../src/service/platform/errors/error-mapping.ts";
import { registerService } from "../../../src/transport/calls/service-registration.ts";
import { startServer, type TransportServer } from "../../../src/transport/start-server.ts";
import { printed, runCli } from "./run-cli.ts";

const id = (digit: string): string => `0x${digit.repeat(64)}`;
const time = timestampFromDate(new Date("2026-11-21T17:06:44.250Z"));
const requests: unknown[] = [];
let server: TransportServer;
let environment: Record<string, string>;

/** The chain's state in these tests. */
const admin: Partial<ServiceImpl<typeof Admin>> = {
  getTreasury: () => ({
    treasury: {
      treasuryId: id("a"),
      packageId: id("b"),
      paused: true,
      ikaBalance: 1_250_000_000n,
      suiBalanceMist: 5n,
      priceCeilings: [
        { operation: Operation.dkg, curve: 2, maxIka: 10n, maxSuiMist: 20n },
        {
          operation: Operation.sign,
          curve: 0,
          signatureAlgorithm: 1,
          maxIka: 1_000_000_000n,
          maxSuiMist: 0n,
        },
      ],
    },
    hotWallet: { address: id("c"), suiBalanceMist: 12_345_678_901n },
    lanes: [
      {
        operatorCapId: id("d"),
        authorised: true,
        leased: true,
        fence: 7n,
        gasBalanceMist: 500_000_000n,
        gasCoins: [{ objectId: id("e"), balanceMist: 500_000_000n }],
      },
      { operatorCapId: id("f"), authorised: false, unresolvedTxDigest: "8YrU" },
    ],
  }),
  listChainTransactions(request) {
    requests.push(request);
    const operations = [Kind.sign, Kind.presign, Kind.sign].map((kind) => ({ kind, subjectId: "x" }));
    const operatorCapId = id("d");
    return {
      chainTransactions: [
        { txDigest: "8YrU", operatorCapId, state: State.stored, sendCount: 2, operations, createTime: time },
        {
          txDigest: "3Abc",
          operatorCapId,
          state: State.aborted,
          sendCount: 1,
          createTime: time,
          gasUsedMist: -1_500_000n,
          errorMessage: "abort 3 in \u001b[31mtreasury\u009b0m",
        },
      ],
    };
  },
};

beforeAll(async () => {
  const errors = createErrorMapping(() => {});
  const services = [registerService(Admin, admin)];
  server = await startServer({ host: "127.0.0.1", port: 0, errors, services, interceptors: [] });
  environment = { TSS_URL: server.url, TSS_ADMIN_KEY: "key" };
  await printed(["treasury"], environment);
});
afterAll(() => server.close());

it("tss treasury shows the Treasury, its ceilings, the wallets and the lanes", async () => {
  expect(await printed(["treasury"], environment)).toBe(
    [
      `treasury    ${id("a")}`,
      `package     ${id("b")}`,
      "paused      YES: every transaction aborts",
      "holds       1.250000000 IKA, 0.000000005 SUI",
      `hot wallet  ${id("c")}, 12.345678901 SUI`,
      "",
      "OPERATION  OF                         AT MOST              AND",
      "dkg        ED25519            0.000000010 IKA  0.000000020 SUI",
      "sign       SECP256K1/Taproot  1.000000000 IKA  0.000000000 SUI",
      "",
      `LANE${" ".repeat(64)}AUTHORISED  DRIVEN              GAS  COINS  UNRESOLVED  FOREIGN`,
      `${id("d")}  yes         yes     0.500000000 SUI      1  -           -`,
      `${id("f")}  NO          no      0.000000000 SUI      0  8YrU        -`,
    ].join("\n"),
  );
  expect(JSON.parse(await printed(["treasury", "--json"], environment))).toMatchObject({
    treasury: { paused: true, ikaBalance: "1250000000" },
    lanes: [{ fence: "7" }, { unresolvedTxDigest: "8YrU" }],
  });
});

it("tss transaction list shows transactions with their operations, without control characters", async () => {
  expect(await printed(["transaction", "list"], environment)).toBe(
    [
      `CREATED               TRANSACTION  STATE    SENT               GAS  OPERATIONS         LANE${" ".repeat(64)}ERROR`,
      `2026-11-21T17:06:44Z  8YrU         stored      2                 -  sign 2, presign 1  ${id("d")}  -`,
      `2026-11-21T17:06:44Z  3Abc         aborted     1  -0.001500000 SUI  gas                ${id("d")}  abort 3 in \u{fffd}[31mtreasury\u{fffd}0m`,
    ].join("\n"),
  );
});

it("tss transaction list filters transactions by lane, state and kind", async () => {
  const filter = ["--lane", id("d"), "--state", "aborted", "--kind", "sign", "--limit", "2", "--json"];
  const out = await printed(["transaction", "list", ...filter], environment);
  expect(out.split("\n").map((line) => (JSON.parse(line) as { txDigest: string }).txDigest)).toEqual([
    ...["8YrU", "3Abc"],
  ]);
  expect(requests.at(-1)).toMatchObject({
    operatorCapId: id("d"),
    state: State.aborted,
    kind: Kind.sign,
    pageSize: 2,
  });
  const wrong = await runCli(["transaction", "list", "--state", "STATE_UNSPECIFIED"], environment);
  expect(wrong).toMatchObject({
    exitCode: 2,
    err: expect.stringContaining("--state takes one of stored, landed, aborted, dropped"),
  });
});
