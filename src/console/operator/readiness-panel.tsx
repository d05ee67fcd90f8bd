import type { JSX } from "preact";
import {
  type GetReadinessResponse,
  type ReadinessCheck,
  GetReadinessResponse_Status as Status,
} from "../../../gen/client/tss/v1/operations_pb.ts";
import { useSession } from "../api/session.ts";
import { useCall } from "../api/use-call.ts";
import { Badge } from "../ui/badge.tsx";
import { type DataColumn, DataTable } from "../ui/data-table.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Panel } from "../ui/panel.tsx";
import { Age } from "../ui/time.tsx";

/** The readiness of the replica that answers, with the reason of each failing check. */
export function ReadinessPanel(): JSX.Element {
  const { everyNetwork, networks } = useSession();
  const readiness = useCall((signal) => everyNetwork.operations.getReadiness({}, { signal }), [], {
    everyMs: 10_000,
  });
  return (
    <Panel
      title={networks.length > 1 ? "Health of all networks" : "Health"}
      note={readiness.data && <Build of={readiness.data} />}
    >
      <Loaded call={readiness}>
        {({ status, checks }) => (
          <>
            <p role="status">{stateOf(status)}</p>
            <ul class="checks" aria-label="Checks">
              {checks.map(({ name, ok, vital }) => (
                <li key={name}>
                  <Badge tone={ok ? "good" : vital ? "bad" : "warn"}>{`${name}${ok ? "" : " fails"}`}</Badge>
                </li>
              ))}
            </ul>
            <DataTable
              caption="Failing checks"
              columns={COLUMNS}
              rows={checks.filter(({ ok }) => !ok)}
              rowKey={({ name }) => name}
              empty={undefined}
            />
          </>
        )}
      </Loaded>
    </Panel>
  );
}

function stateOf(status: Status): JSX.Element {
  switch (status) {
    case Status.ready:
      return <Badge tone="good">ready: every check passes</Badge>;
    case Status.degraded:
      return <Badge tone="warn">degraded: serves calls, but a check fails</Badge>;
    default:
      return <Badge tone="bad">unavailable: a vital check fails</Badge>;
  }
}

function Build({ of: { version, commit, processType, startTime, readTime } }: BuildProps): JSX.Element {
  return (
    <>
      Version {version}
      {commit !== "" && ` (${commit.slice(0, 12)})`}, process type {processType}, started{" "}
      <Age of={startTime} at={readTime} />. Of the replica that answers.
    </>
  );
}

interface BuildProps {
  readonly of: GetReadinessResponse;
}

const COLUMNS: readonly DataColumn<ReadinessCheck>[] = [
  { title: "Failing check", cell: ({ name }) => name },
  {
    title: "Without it",
    cell: ({ vital }) => (vital ? "the replica serves nobody" : "the replica serves calls"),
  },
  { title: "Reason", cell: ({ reason }) => <span class="wrap">{reason}</span> },
];
