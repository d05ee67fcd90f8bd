import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import {
  type GetUsageResponse,
  GetUsageRequest_Step as Step,
} from "../../../../gen/client/tss/v1/billing_pb.ts";
import { SignRequest_Status as Status } from "../../../../gen/client/tss/v1/signing_pb.ts";
import { type Session, useSession } from "../../api/session.ts";
import { useCall } from "../../api/use-call.ts";
import { TimeChart } from "../../design/chart/time-chart.tsx";
import { Concerns, Headline } from "../../design/concerns.tsx";
import { Loaded } from "../../design/loaded.tsx";
import { PageFrame } from "../../design/page-frame.tsx";
import { Panel } from "../../design/panel.tsx";
import { Stat, Stats } from "../../design/value/facts.tsx";
import { fillSteps } from "../../format/fill-steps.ts";
import { formatCount, formatDays, formatMoney } from "../../format/text.ts";
import { daysLeft, projectConcerns, toSpend } from "./concerns.ts";
import { FirstSteps } from "./first-steps.tsx";
import { LARGEST_COUNT, LargestUsersPanel } from "./largest-users-panel.tsx";

/** The state of the project at a glance; the first steps until its first signature. */
export function OverviewPage(): JSX.Element {
  const session = useSession();
  const state = useCall((signal) => readState(session, signal), [], { everyMs: 15_000 });
  return (
    <PageFrame title="Overview">
      <Loaded call={state} lines={12}>
        {(data) => (
          <>
            {data.hasSigned === false && <FirstSteps />}
            <StatePanel state={data} />
            {data.month !== undefined && <SpendingPanel month={data.month} />}
            {data.largest !== undefined && <LargestUsersPanel usage={data.largest} />}
          </>
        )}
      </Loaded>
    </PageFrame>
  );
}

/** Reads what the key may see of the project. */
async function readState({ account, billing, signing, scopes }: Session, signal: AbortSignal) {
  const may = <Reply,>(scope: string, call: () => Promise<Reply>): Promise<Reply | undefined> =>
    scopes === undefined || scopes.includes(scope) ? ifInReach(call()) : Promise.resolve(undefined);
  const nowMs = Date.now();
  const since = (days: number) => ({ startTime: timestampFromMs(nowMs - days * DAY_MS) });
  const [balance, day, week, month, largest, keys, failed, completed] = await Promise.all([
    may("billing", () => billing.getBalance({}, { signal })),
    may("billing", () => billing.getUsage({ step: Step.hour }, { signal })),
    may("billing", () => billing.getUsage({ step: Step.day, ...since(7) }, { signal })),
    may("billing", () => billing.getUsage({ step: Step.day }, { signal })),
    may("billing", () => billing.listUserUsage({ pageSize: LARGEST_COUNT }, { signal })),
    may("read", () => account.listAccountKeys({ pageSize: 200 }, { signal })),
    may("read", () => signing.listSigns({ status: Status.failed, pageSize: 200 }, { signal })),
    may("read", () => signing.listSigns({ status: Status.completed, pageSize: 1 }, { signal })),
  ]);
  return {
    nowMs,
    balance,
    day: day?.total,
    week: week?.total,
    month,
    largest,
    keys: keys?.accountKeys ?? [],
    failed: failed?.signRequests ?? [],
    /** Undefined if the key may not see it. */
    hasSigned: completed && completed.signRequests.length > 0,
  };
}

const DAY_MS = 86_400_000;

/** Returns undefined for a key that is confined to users or dWallets and may not make the call. */
async function ifInReach<Reply>(call: Promise<Reply>): Promise<Reply | undefined> {
  try {
    return await call;
  } catch (cause) {
    if (ConnectError.from(cause).code === Code.PermissionDenied) return undefined;
    throw cause;
  }
}

type State = Awaited<ReturnType<typeof readState>>;

function StatePanel({ state }: { readonly state: State }): JSX.Element {
  const { balance, day, week, month } = state;
  const concerns = projectConcerns(state);
  const spendable = balance && toSpend(balance);
  const days = spendable === undefined ? undefined : daysLeft(spendable, week);
  return (
    <Panel title="State">
      <Headline concerns={concerns} figures={figuresOf(state)} />
      <Concerns of={concerns} />
      {spendable === undefined ? (
        <p class="muted">The key may not see the project’s money.</p>
      ) : (
        <Stats>
          <Stat
            name="To spend"
            value={<a href="#/balance">{formatMoney(spendable)}</a>}
            note={days === undefined ? "nothing was spent in the last week" : `lasts ${formatDays(days)}`}
          />
          <Stat
            name="Signatures, last day"
            value={<a href="#/signs">{formatCount(day?.signCount ?? 0n)}</a>}
            note={`${formatCount(day?.signRefundCount ?? 0n)} refunded`}
          />
          <Stat
            name="Charged, last day"
            value={formatMoney(day?.chargedMicroUsd ?? 0n)}
            note="minus refunds"
          />
          <Stat
            name="Charged, last 30 days"
            value={<a href="#/usage">{formatMoney(month?.total?.chargedMicroUsd ?? 0n)}</a>}
            note="minus refunds"
          />
        </Stats>
      )}
    </Panel>
  );
}

/** Returns the figures in a sentence: `12 signatures in the last day, the balance lasts 41 days.` */
function figuresOf({ balance, day, week }: State): string {
  if (day === undefined) return "";
  const signs = `${formatCount(day.signCount)} ${day.signCount === 1n ? "signature" : "signatures"} in the last day`;
  const days = balance && daysLeft(toSpend(balance), week);
  return days === undefined || days <= 0 ? `${signs}.` : `${signs}, the balance lasts ${formatDays(days)}.`;
}

/** Signatures and charges of each of the last 30 days. */
function SpendingPanel({ month }: { readonly month: GetUsageResponse }): JSX.Element {
  const { span, times, counts, charges } = useMemo(() => {
    const filled = fillSteps({ ...month, stepSeconds: DAY_MS / 1_000 }, month.steps);
    const usages = filled.steps.map((step) => step?.usage);
    return {
      span: spanSince(
        filled.times,
        usages.findIndex((usage) => usage !== undefined),
      ),
      times: filled.times,
      counts: [{ name: "Signatures", values: usages.map((each) => Number(each?.signCount ?? 0n)) }],
      charges: [{ name: "Charged", values: usages.map((each) => Number(each?.chargedMicroUsd ?? 0n)) }],
    };
  }, [month]);
  return (
    <Panel
      title="The last 30 days"
      note="By day (UTC). A charge counts when it is booked, and so does its refund."
    >
      <div class="charts">
        <TimeChart
          title="Signatures a day"
          times={times}
          span={span}
          series={counts}
          shape="bars"
          format={formatCount}
        />
        <TimeChart
          title="Charged a day"
          times={times}
          span={span}
          series={charges}
          shape="bars"
          format={formatCharge}
        />
      </div>
    </Panel>
  );
}

/** Returns the time axis: at least a week of days, without those before the first booking. */
function spanSince(times: readonly number[], first: number): readonly [number, number] | undefined {
  const from = times[Math.max(0, first < 0 ? times.length - 7 : Math.min(first, times.length - 7))];
  const last = times.at(-1);
  return from === undefined || last === undefined ? undefined : [from, last + DAY_MS / 1_000];
}

const formatCharge = (amountMicroUsd: number): string => formatMoney(BigInt(Math.round(amountMicroUsd)));
