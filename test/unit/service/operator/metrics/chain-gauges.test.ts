import { afterEach, expect, it } from "vitest";
import type {
  TreasuryOperator,
  TreasuryState,
} from "../../../../../src/service/chain/treasury/treasury-state.ts";
import {
  type ChainFigures,
  createChainGauges,
} from "../../../../../src/service/operator/metrics/chain-figures.ts";
import { createMetrics } from "../../../../../src/service/platform/telemetry/metrics.ts";

const metrics = createMetrics();
afterEach(() => metrics.close());

const NOTHING = { ika: 0n, sui: 0n, dkgs: 0n, presigns: 0n, signs: 0n };
const operator = (capId: string, given: Partial<TreasuryOperator>): TreasuryOperator => ({
  capId,
  holder: "0xh",
  expiresEpoch: 20n,
  spentEpoch: 10n,
  spent: NOTHING,
  limits: { ika: 100n, sui: 100n, dkgs: 10n, presigns: 10n, signs: 10n },
  ...given,
});
const treasury: TreasuryState = {
  version: 1n,
  isPaused: false,
  adminCapId: "0xa",
  pauser: undefined,
  recovery: undefined,
  ika: 0n,
  sui: 0n,
  adminOffer: { to: "0xn", fromEpoch: 10n },
  successor: undefined,
  announcedDWalletIds: ["0xd", "0xe"],
  operators: [
    operator("0xother", { expiresEpoch: 1n }),
    operator("0xsecond", { spent: { ...NOTHING, ika: 25n, signs: 9n } }),
    operator("0xfirst", { expiresEpoch: 9n, spentEpoch: 9n, spent: { ...NOTHING, ika: 99n } }),
  ],
};
const figures: ChainFigures = {
  treasury,
  epoch: 10n,
  affordableSignCount: 0,
  gasMist: 0n,
  laneGasMist: new Map(),
  newestNetworkEncryptionKeyId: "0xk",
  checkpointMs: 0,
};

it("the gauges show announcements, and the time and the budget that each lane has left in this epoch", async () => {
  createChainGauges(metrics, ["0xfirst", "0xsecond"])(figures);
  const { body } = await metrics.render();
  const shown = body.split("\n").filter((line) => /^service_(treasury_(rel|adm|suc)|operator)/.test(line));
  expect(shown.toSorted()).toEqual([
    'service_operator_budget_used_ratio{lane="0"} 0',
    'service_operator_budget_used_ratio{lane="1"} 0.9',
    'service_operator_epochs_left{lane="0"} -1',
    'service_operator_epochs_left{lane="1"} 10',
    "service_treasury_admin_offered 1",
    "service_treasury_releases_announced 2",
    "service_treasury_successor_announced 0",
  ]);
});
