import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { AuditEvent } from "../../../gen/client/tss/v1/admin_pb.ts";
import { useSession } from "../api/session-context.ts";
import { usePages } from "../api/use-pages.ts";
import { Badge } from "../ui/badge.tsx";
import { type DataColumn, DataTable } from "../ui/data-table.tsx";
import { Empty } from "../ui/empty.tsx";
import { TextField } from "../ui/field.tsx";
import { Id } from "../ui/id.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { PageFrame } from "../ui/page-frame.tsx";
import { Pager } from "../ui/pager.tsx";
import { Time } from "../ui/time.tsx";
import { NetworkFilter } from "./network-filter.tsx";

export function AuditPage(): JSX.Element {
  const session = useSession();
  const [isOverAll, setIsOverAll] = useState(false);
  const [wanted, setWanted] = useState({ projectId: "", actor: "" });
  const [filter, setFilter] = useState(wanted);
  const events = usePages(
    async (pageToken, signal) => {
      const { admin } = isOverAll ? session.everyNetwork : session;
      const request = {
        ...(filter.projectId !== "" && { projectId: filter.projectId }),
        ...(filter.actor !== "" && { actor: filter.actor }),
      };
      const reply = await admin.listAuditEvents({ ...request, pageToken }, { signal });
      return { items: reply.auditEvents, nextPageToken: reply.nextPageToken };
    },
    [filter, isOverAll],
  );
  const actions = (
    <>
      <a class="button" href="#/seals">
        Seals
      </a>
      <button type="button" class="button" onClick={events.reload}>
        Read again
      </button>
    </>
  );
  return (
    <PageFrame
      title="Audit trail"
      lead="Every change and its actor. Open an event to verify the proof that a seal covers it."
      actions={actions}
    >
      <section class="panel">
        <form
          class="filters"
          onSubmit={(event) => {
            event.preventDefault();
            setFilter({ projectId: wanted.projectId.trim(), actor: wanted.actor.trim() });
          }}
        >
          <TextField
            label="Project id"
            value={wanted.projectId}
            onInput={(projectId) => setWanted({ ...wanted, projectId })}
          />
          <TextField
            label="Actor"
            value={wanted.actor}
            onInput={(actor) => setWanted({ ...wanted, actor })}
          />
          <button type="submit" class="button">
            Filter
          </button>
          <NetworkFilter isOverAll={isOverAll} onSelect={setIsOverAll} />
        </form>
        <Loaded call={events} lines={8}>
          {({ items }) => (
            <DataTable
              caption="Audit events"
              columns={COLUMNS}
              rows={items}
              rowKey={({ auditEventId }) => `${auditEventId}`}
              empty={<Empty title="No events">No event matches the filter.</Empty>}
            />
          )}
        </Loaded>
        <Pager pages={events} of="audit events" />
      </section>
    </PageFrame>
  );
}

const COLUMNS: readonly DataColumn<AuditEvent>[] = [
  {
    title: "Event",
    cell: ({ auditEventId }) => <a href={`#/audit/${auditEventId}`}>{`${auditEventId}`}</a>,
  },
  { title: "Time", cell: ({ createTime }) => <Time of={createTime} /> },
  { title: "Action", cell: ({ action }) => <code>{action}</code> },
  { title: "Actor", cell: ({ actor }) => <Id id={actor} what="actor" /> },
  { title: "Subject", cell: ({ subject }) => (subject === "" ? "—" : <Id id={subject} what="subject" />) },
  {
    title: "Project",
    cell: ({ projectId }) =>
      projectId === "" ? "—" : <Id id={projectId} what="project id" href={`#/projects/${projectId}`} />,
  },
  { title: "Address", cell: ({ address }) => address || "—" },
  {
    title: "Sealed",
    cell: ({ sequence }) =>
      sequence === undefined ? (
        <Badge tone="busy">not yet</Badge>
      ) : (
        <Badge tone="good">{`entry ${sequence}`}</Badge>
      ),
  },
];
