import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { AuditEvent } from "../../../gen/client/tss/v1/admin_pb.ts";
import { useSession } from "../api/session.ts";
import { usePages } from "../api/use-pages.ts";
import { lengthFault, projectIdFault } from "../format/input-faults.ts";
import { Badge } from "../ui/badge.tsx";
import { type DataColumn, DataTable, Pager } from "../ui/data-table.tsx";
import { Empty } from "../ui/empty.tsx";
import { TextField } from "../ui/field.tsx";
import { Id } from "../ui/id.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { PageFrame } from "../ui/page-frame.tsx";
import { Time } from "../ui/time.tsx";
import { useUrlFilter } from "../ui/use-url-filter.ts";
import { NetworkFilter } from "./network-filter.tsx";

export function AuditPage(): JSX.Element {
  const session = useSession();
  const [networksShown, setNetworksShown] = useUrlFilter("networks", "chosen", (value) => value === "all");
  const isOverAll = networksShown === "all";
  const [projectId, setProjectId] = useUrlFilter("project", "", (id) => projectIdFault(id) === undefined);
  const [actor, setActor] = useUrlFilter("actor", "");
  const [wanted, setWanted] = useState({ projectId, actor });
  const faults = {
    projectId: projectIdFault(wanted.projectId),
    actor: lengthFault(wanted.actor, ACTOR_MAX_LENGTH),
  };
  const events = usePages(
    async (pageToken, signal) => {
      const { admin } = isOverAll ? session.everyNetwork : session;
      const request = {
        ...(projectId !== "" && { projectId }),
        ...(actor !== "" && { actor }),
      };
      const reply = await admin.listAuditEvents({ ...request, pageToken }, { signal });
      return { items: reply.auditEvents, nextPageToken: reply.nextPageToken };
    },
    [projectId, actor, isOverAll],
    { everyMs: 10_000 },
  );
  const actions = (
    <>
      <a class="button" href="#/seals">
        Seals
      </a>
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
            if (faults.projectId !== undefined || faults.actor !== undefined) return;
            setProjectId(wanted.projectId.trim());
            setActor(wanted.actor.trim());
          }}
        >
          <TextField
            label="Project id"
            value={wanted.projectId}
            onInput={(text) => setWanted({ ...wanted, projectId: text })}
            fault={faults.projectId}
          />
          <TextField
            label="Actor"
            value={wanted.actor}
            onInput={(text) => setWanted({ ...wanted, actor: text })}
            fault={faults.actor}
          />
          <button type="submit" class="button">
            Filter
          </button>
          <NetworkFilter
            isOverAll={isOverAll}
            onSelect={(isAll) => setNetworksShown(isAll ? "all" : "chosen")}
          />
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

const ACTOR_MAX_LENGTH = 200;

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
