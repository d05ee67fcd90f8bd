import type { JSX } from "preact";
import { LedgerEntry_KindSchema } from "../../../../gen/client/tss/v1/billing_pb.ts";
import {
  type GetMoneyResponse,
  type LedgerDifference,
  type LedgerSum,
  type LedgerVerification,
  type SweepCount,
  SweepCount_StateSchema,
} from "../../../../gen/client/tss/v1/operations_pb.ts";
import { useOnNetwork, useSession } from "../../api/session.ts";
import { useCall } from "../../api/use-call.ts";
import { Empty } from "../../design/empty.tsx";
import { Loaded } from "../../design/loaded.tsx";
import { PageFrame } from "../../design/page-frame.tsx";
import { Panel } from "../../design/panel.tsx";
import { type DataColumn, DataTable } from "../../design/table/data-table.tsx";
import { Badge } from "../../design/value/badge.tsx";
import { Stat, Stats } from "../../design/value/facts.tsx";
import { Id } from "../../design/value/id.tsx";
import { Age } from "../../design/value/time.tsx";
import { enumName, formatCount, formatMoney, formatMoneyChange } from "../../format/text.ts";

/** The balances of all projects, deposits, sweeps, and the verification of the ledger. */
export function MoneyPage(): JSX.Element {
  const { operations } = useSession();
  const onNetwork = useOnNetwork();
  const money = useCall((signal) => operations.getMoney({}, { signal }), [], { everyMs: 15_000 });
  return (
    <PageFrame
      title="Money"
      lead={`The credit of all projects${onNetwork || " of the network"}, and its movements.`}
    >
      <Loaded call={money} lines={10}>
        {(reply) => <Parts reply={reply} />}
      </Loaded>
    </PageFrame>
  );
}

function Parts({ reply }: { readonly reply: GetMoneyResponse }): JSX.Element {
  const { networks } = useSession();
  const { readTime, waitingDepositCount, oldestWaitingDepositTime } = reply;
  return (
    <>
      <section class="panel" aria-label="Balances">
        <Stats>
          <Stat
            name="Balances"
            value={formatMoney(reply.balanceMicroUsd)}
            note={<a href="#/projects">of {formatCount(reply.projectCount)} projects</a>}
          />
          <Stat name="Held" value={formatMoney(reply.heldMicroUsd)} note="for open reservations" />
          <Stat
            name="Waiting deposits"
            value={formatCount(waitingDepositCount)}
            note={
              oldestWaitingDepositTime === undefined ? (
                "none waits"
              ) : (
                <>
                  the oldest found <Age of={oldestWaitingDepositTime} at={readTime} />
                </>
              )
            }
          />
        </Stats>
      </section>
      <Panel
        title="Verification of the ledger"
        note={`Every amount${networks.length > 1 ? " of all networks" : ""} is recomputed every hour from its source.`}
      >
        <Verification of={reply.ledgerVerification} reply={reply} />
      </Panel>
      <Panel title="The last day" note="Ledger entries of the last 24 full hours and the current one.">
        <DataTable
          caption="Ledger entries of the last day by kind"
          columns={SUM_COLUMNS}
          rows={reply.lastDay}
          rowKey={({ kind }) => `${kind}`}
          empty={<Empty title="No entries">Nothing was booked in the last day.</Empty>}
        />
      </Panel>
      <Panel title="Open sweeps" note="Sweeps move the coins of credited deposits to the operator.">
        <DataTable
          caption="Open sweeps by state"
          columns={sweepColumns(reply)}
          rows={reply.sweeps}
          rowKey={({ state }) => `${state}`}
          empty={<Empty title="No open sweeps">Every sweep has landed, or there was none yet.</Empty>}
        />
      </Panel>
    </>
  );
}

function Verification({ of, reply }: VerificationProps): JSX.Element {
  if (of === undefined)
    return <Empty title="Not verified yet">A replica verifies the ledger every hour.</Empty>;
  const { differenceCount, differences, verifyTime } = of;
  return (
    <>
      <div class="verdict" role="status">
        {differenceCount === 0 ? (
          <Badge tone="good">no mismatch</Badge>
        ) : (
          <Badge tone="bad">{`${formatCount(differenceCount)} mismatches`}</Badge>
        )}
        <p>
          Verified <Age of={verifyTime} at={reply.readTime} />.
        </p>
      </div>
      {differences.length > 0 && (
        <DataTable
          caption="Mismatches"
          columns={DIFFERENCE_COLUMNS}
          rows={differences}
          rowKey={({ kind, subject }) => `${kind}:${subject}`}
          empty={undefined}
        />
      )}
    </>
  );
}

interface VerificationProps {
  readonly of: LedgerVerification | undefined;
  readonly reply: Pick<GetMoneyResponse, "readTime">;
}

const DIFFERENCE_COLUMNS: readonly DataColumn<LedgerDifference>[] = [
  { title: "Kind", cell: ({ kind }) => kind },
  { title: "Subject", cell: ({ subject }) => <Id id={subject} what="subject" /> },
  { title: "Expected", isNumber: true, cell: ({ kind, expected }) => amountText(kind, expected) },
  { title: "Stored", isNumber: true, cell: ({ kind, actual }) => amountText(kind, actual) },
];

const amountText = (kind: string, amount: bigint): string =>
  kind === "reservations" ? formatCount(amount) : formatMoney(amount);

const SUM_COLUMNS: readonly DataColumn<LedgerSum>[] = [
  { title: "Kind", cell: ({ kind }) => enumName(LedgerEntry_KindSchema, kind).replace("_", " ") },
  { title: "Entries", isNumber: true, cell: ({ count }) => formatCount(count) },
  { title: "Sum", isNumber: true, cell: ({ amountMicroUsd }) => formatMoneyChange(amountMicroUsd) },
];

const sweepColumns = ({ readTime }: GetMoneyResponse): readonly DataColumn<SweepCount>[] => [
  {
    title: "State",
    cell: ({ state }) => {
      const name = enumName(SweepCount_StateSchema, state);
      return <Badge tone={name === "queued" ? "busy" : "warn"}>{name}</Badge>;
    },
  },
  { title: "Sweeps", isNumber: true, cell: ({ count }) => formatCount(count) },
  { title: "Oldest", cell: ({ oldestCreateTime }) => <Age of={oldestCreateTime} at={readTime} /> },
];
