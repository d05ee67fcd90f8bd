import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import {
  type GetUsageResponse,
  GetUsageRequest_Step as Step,
} from "../../../../gen/client/tss/v1/billing_pb.ts";
import { useUrlFilter } from "../../address/use-url-filter.ts";
import { useSession } from "../../api/session.ts";
import { useCall } from "../../api/use-call.ts";
import { TimeChart } from "../../design/chart/time-chart.tsx";
import { SelectField } from "../../design/form/field.tsx";
import { Loaded } from "../../design/loaded.tsx";
import { PageFrame } from "../../design/page-frame.tsx";
import { Stat } from "../../design/value/facts.tsx";
import { fillSteps } from "../../format/fill-steps.ts";
import { formatCount, formatMoney, formatMoneyChange } from "../../format/text.ts";
import { UsageStats } from "./usage-stats.tsx";

/** The project's usage and payments over time. */
export function UsagePage(): JSX.Element {
  const { billing } = useSession();
  const [window, setWindow] = useUrlFilter<keyof typeof STEPS>("by", "days", (name) => name in STEPS);
  const usage = useCall((signal) => billing.getUsage({ step: STEPS[window].step }, { signal }), [window], {
    everyMs: 30_000,
  });
  return (
    <PageFrame
      title="Usage"
      lead="A charge counts when it is booked, and so does its refund."
      actions={
        <SelectField
          label="Window"
          options={[
            ["days", "the last 30 days, by day (UTC)"],
            ["hours", "the last day, by hour"],
          ]}
          value={window}
          isInline
          onSelect={(wanted) => setWindow(wanted)}
        />
      }
    >
      <Loaded call={usage} lines={10}>
        {(reply) => <Figures reply={reply} stepSeconds={STEPS[window].seconds} />}
      </Loaded>
    </PageFrame>
  );
}

const STEPS = { days: { step: Step.day, seconds: 86_400 }, hours: { step: Step.hour, seconds: 3_600 } };

function Figures({ reply, stepSeconds }: FiguresProps): JSX.Element {
  const { total } = reply;
  const { times, counts, charges } = useMemo(() => {
    const filled = fillSteps({ ...reply, stepSeconds }, reply.steps);
    const usages = filled.steps.map((step) => step?.usage);
    return {
      times: filled.times,
      counts: [{ name: "Signatures", values: usages.map((each) => Number(each?.signCount ?? 0n)) }],
      // In micro-USD. A chart needs no more precision than a float has.
      charges: [{ name: "Charged", values: usages.map((each) => Number(each?.chargedMicroUsd ?? 0n)) }],
    };
  }, [reply, stepSeconds]);
  return (
    <>
      <section class="panel" aria-label="Sums">
        <UsageStats total={total}>
          <Stat
            name="Deposited"
            value={formatMoney(total?.depositedMicroUsd ?? 0n)}
            note={`${formatCount(total?.depositCount ?? 0n)} deposits`}
          />
          <Stat
            name="Credit"
            value={formatMoneyChange(total?.adjustedMicroUsd ?? 0n)}
            note="added by the operator"
          />
        </UsageStats>
      </section>
      <section class="panel" aria-label="Over time">
        <div class="charts">
          <TimeChart title="Signatures" times={times} series={counts} shape="bars" format={formatCount} />
          <TimeChart title="Charged" times={times} series={charges} shape="bars" format={formatCharge} />
        </div>
      </section>
    </>
  );
}

interface FiguresProps {
  readonly reply: GetUsageResponse;
  readonly stepSeconds: number;
}

const formatCharge = (amountMicroUsd: number): string => formatMoney(BigInt(Math.round(amountMicroUsd)));
