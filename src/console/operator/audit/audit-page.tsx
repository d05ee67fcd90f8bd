import type { ComponentChildren, JSX } from "preact";
import type { AuditEvent } from "../../../../gen/client/tss/v1/admin_pb.ts";
import { useSession } from "../../api/session.ts";
import { type Names, useNames } from "../../api/use-names.ts";
import { usePages } from "../../api/use-pages.ts";
import { Empty } from "../../design/empty.tsx";
import { PageFrame } from "../../design/page-frame.tsx";
import type { DataColumn } from "../../design/table/data-table.tsx";
import { ListTable } from "../../design/table/list-table.tsx";
import { Badge } from "../../design/value/badge.tsx";
import { Cut } from "../../design/value/cut.tsx";
import { Icon } from "../../design/value/icon.tsx";
import { CopyButton, Id } from "../../design/value/id.tsx";
import { Time } from "../../design/value/time.tsx";
import { plainTime } from "../../format/text.ts";
import { type AuditFilter, AuditFilterForm, useAuditFilter } from "./audit-filter.tsx";

export function AuditPage(): JSX.Element {
  const session = useSession();
  const { filter, request, networks, filterBy } = useAuditFilter();
  const isOverAll = networks === "all";
  const events = usePages(
    "events",
    async (at, signal) => {
      const { admin } = isOverAll ? session.everyNetwork : session;
      const reply = await admin.listAuditEvents({ ...request, ...at }, { signal });
      return { items: reply.auditEvents, nextPageToken: reply.nextPageToken };
    },
    [...Object.values(filter), isOverAll],
    { everyMs: 10_000 },
  );
  const names = useNames(events.data?.items.map((event) => event.projectId) ?? []);
  const projectName = names.projects.get(filter.projectId);
  return (
    <PageFrame
      title="Audit trail"
      lead="Every change and its actor. Open an event to verify the proof that a seal covers it."
      actions={
        <a class="button" href="#/seals">
          Seals
        </a>
      }
    >
      <section class="panel">
        {projectName !== undefined && (
          <p class="notice" role="status">
            Only the events of <strong>{projectName}</strong>
          </p>
        )}
        <ListTable
          caption="Audit events"
          columns={columnsWith(names, filterBy)}
          rowKey={({ auditEventId }) => `${auditEventId}`}
          empty={<Empty title="No events">No event matches the filter.</Empty>}
          pages={events}
          lines={8}
          filter={<AuditFilterForm filter={filter} networks={networks} onFilter={filterBy} />}
        />
      </section>
    </PageFrame>
  );
}

/** @param filterBy shows the events of one action, actor or project alone */
const columnsWith = (
  { projects, keys }: Names,
  filterBy: (filter: Partial<AuditFilter>) => void,
): readonly DataColumn<AuditEvent>[] => [
  {
    title: "Event",
    cell: ({ auditEventId }) => <a href={`#/audit/${auditEventId}`}>{`${auditEventId}`}</a>,
    text: ({ auditEventId }) => `${auditEventId}`,
  },
  {
    title: "Time",
    cell: ({ createTime }) => <Time of={createTime} />,
    text: ({ createTime }) => plainTime(createTime),
  },
  {
    title: "Action",
    cell: ({ action }) => (
      <Filtering what={`the action ${action}`} onFilter={() => filterBy({ action })}>
        <code>{action}</code>
      </Filtering>
    ),
    text: ({ action }) => action,
  },
  {
    title: "Actor",
    cell: ({ actor }) => (
      <Filtering what={`the actor ${actor}`} onFilter={() => filterBy({ actor })}>
        <Named id={actor} what="actor" name={actorName(actor, keys)} />
      </Filtering>
    ),
    text: ({ actor }) => actor,
  },
  {
    title: "Subject",
    cell: ({ subject }) =>
      subject === "" ? (
        "—"
      ) : (
        <Named id={subject} what="subject" name={projects.get(subject) ?? keys.get(subject)} />
      ),
    text: ({ subject }) => subject,
  },
  {
    title: "Project",
    cell: ({ projectId }) =>
      projectId === "" ? (
        "—"
      ) : (
        <Filtering what={`the project ${projectId}`} onFilter={() => filterBy({ projectId })}>
          <Named
            id={projectId}
            what="project id"
            name={projects.get(projectId)}
            href={`#/projects/${projectId}`}
          />
        </Filtering>
      ),
    text: ({ projectId }) => projectId,
  },
  {
    title: "Address",
    cell: ({ address }) => <span class="time">{address || "—"}</span>,
    text: ({ address }) => address,
  },
  {
    title: "Sealed",
    cell: ({ sequence }) =>
      sequence === undefined ? (
        <Badge tone="busy">not yet</Badge>
      ) : (
        <span class="muted time">{`entry ${sequence}`}</span>
      ),
    text: ({ sequence }) => (sequence === undefined ? "" : `${sequence}`),
  },
];

/** Returns the name of a key's actor; undefined for an actor that is already a name, or is not known. */
function actorName(actor: string, keys: Names["keys"]): string | undefined {
  const name = keys.get(actor.replace(/^key:/, ""));
  return name === undefined ? undefined : `key ${name}`;
}

/** A name with its id in the pointer's text, or the id of something without a known name. */
function Named({ id, what, name, href }: NamedProps): JSX.Element {
  if (name === undefined) return <Id id={id} what={what} href={href} />;
  return (
    <span class="id" title={id}>
      {href === undefined ? (
        <Cut text={name} />
      ) : (
        <a href={href}>
          <Cut text={name} />
        </a>
      )}
      <CopyButton text={id} label={`Copy the ${what}`} />
    </span>
  );
}

interface NamedProps {
  readonly id: string;
  readonly what: string;
  readonly name: string | undefined;
  readonly href?: string;
}

/** A value with a button that filters the list by it. */
function Filtering({ what, onFilter, children }: FilteringProps): JSX.Element {
  return (
    <span class="id">
      {children}
      <button
        type="button"
        class="icon-button"
        aria-label={`Only ${what}`}
        title={`Only ${what}`}
        onClick={onFilter}
      >
        <Icon name="filter" />
      </button>
    </span>
  );
}

interface FilteringProps {
  /** What the list then has. */
  readonly what: string;
  onFilter(): void;
  readonly children: ComponentChildren;
}
